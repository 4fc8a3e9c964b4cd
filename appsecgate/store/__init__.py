"""The ledger: one SQLite database for all projects. The only place that imports sqlite3."""
