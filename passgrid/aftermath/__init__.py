"""After the agent is done: servers are asked what exists now, and what the attempt made is taken away again."""
