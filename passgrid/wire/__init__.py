"""What is spoken at the wire, without a server: requests become replies."""
