"""Redaction: no raw secret is stored, sent or logged.

``redactor.Redactor`` masks texts and whole files, ``seal.seal`` turns a raw hit into a finding that is
safe to store. Everything is linear in the text, whatever the text is.
"""
