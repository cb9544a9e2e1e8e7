"""What is worth knowing about data before training on it."""
