"""How dates are written for staff; the API has a format of its own."""
