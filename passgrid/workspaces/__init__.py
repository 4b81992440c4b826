"""The workspace of an attempt: made from its template at once, compared with it afterwards, gone at the end."""
