"""Asking a language model: one bounded call, prompts in one place, and answers that are believed only after a check."""
