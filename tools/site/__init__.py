"""Generate pages and pictures of the documentation: `make pages` runs it all."""
