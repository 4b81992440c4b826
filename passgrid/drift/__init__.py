"""What changed between a recording and the servers of today: pure functions over surfaces and results."""
