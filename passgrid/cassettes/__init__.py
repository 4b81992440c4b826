"""Recordings: one attempt in one reviewable file."""
