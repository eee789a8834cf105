"""The two code hosts: what they tell us, and how we answer them."""
