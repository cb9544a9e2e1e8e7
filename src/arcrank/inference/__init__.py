"""A stored model over texts or features."""
