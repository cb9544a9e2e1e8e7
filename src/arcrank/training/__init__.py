"""Choosing a learner, fitting, and what it will cost."""
