"""The Model Context Protocol over stdin and stdout, both eras of it, written by hand."""
