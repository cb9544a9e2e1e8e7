"""Apply a stored model to texts or features."""
