"""The fourteen tools: one file each, one dataclass in, one out, one function."""
