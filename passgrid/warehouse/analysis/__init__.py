"""The DuckDB file for analysis: its tables, how it is filled, published and read."""
