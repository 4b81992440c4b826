"""The usual model APIs spoken at the wire, so that any agent can be given a recorded, faked, scripted or live model."""
