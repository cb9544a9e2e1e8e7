"""Measures of a model on documents that it has not seen, and reports of them."""
