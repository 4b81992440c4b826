"""When matrices are submitted by themselves: the schedule file, its slots in local time, and which of them are due."""
