"""The command line: `submit-matrix` and `passgrid`."""
