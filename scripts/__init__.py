"""The developers' commands: build, test, demo."""
