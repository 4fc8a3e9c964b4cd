"""The scanners: one file each, pure functions from targets to a command and from a report to hits."""
