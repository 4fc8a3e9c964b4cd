"""Who is who between two scans: scope keys, fingerprints, line maps, matching, duplicates.

Everything here is a pure function of findings and source text; nothing is read or stored.
"""
