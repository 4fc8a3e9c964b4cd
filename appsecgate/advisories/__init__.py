"""Public advisories about Python packages: versions, ranges, names and severities.

Pure: no file, no socket, no database.

``pep440`` orders versions, ``osv`` reads records and decides whether a version is affected, ``cvss`` computes
base scores, ``merge`` joins the names of one flaw and finds fixed versions, ``lookup`` says what an adapter
may ask of a local copy.
"""
