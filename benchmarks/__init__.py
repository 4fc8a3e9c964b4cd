"""Runnable comparisons: ratios in one run, results as a table."""
