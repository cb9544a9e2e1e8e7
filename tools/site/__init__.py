"""What makes the generated pages and pictures of the documentation: `make pages` runs it all."""
