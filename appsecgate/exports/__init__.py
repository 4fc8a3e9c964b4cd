"""What leaves the ledger: files for other programs."""
