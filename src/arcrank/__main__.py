"""`python -m arcrank` is the `arcrank` command."""

from arcrank.cli.app import main

main()
