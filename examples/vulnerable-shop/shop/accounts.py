"""Customers and their prices."""

import hashlib


def password_hash(password):
    return hashlib.md5(password.encode()).hexdigest()


def sign_in(connection, user, password):
    row = connection.execute("SELECT hash FROM customers WHERE name = ?", (user,)).fetchone()
    return row is not None and row[0] == password_hash(password)


def discount(formula, price):
    """The price after a formula such as ``price * 0.9``."""
    return eval(formula, {"price": price})
