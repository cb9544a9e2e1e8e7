"""What is run from a shell. Thin: parse, call the library, print."""
