"""Agents that are programs of their own: started for one attempt, answered by a private gateway, and ended with it."""
