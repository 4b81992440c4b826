"""The only place that knows SQL: tables, claims, writes, the export to DuckDB, and the dashboard's queries."""
