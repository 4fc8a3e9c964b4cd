"""The benchmarks themselves: that they run, and that what they write is computed."""
