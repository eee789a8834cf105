"""Findings in the formats of other tools, written piece by piece so that their number costs no memory."""
