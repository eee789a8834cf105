"""Measurements, as ratios in one run. `python -m bench` runs them all; each module runs alone as well."""
