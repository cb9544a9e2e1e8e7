"""The `arcrank` command, also as `python -m arcrank`: Ctrl-C is handled before anything that takes time is imported."""

import os

from arcrank.cli.signals import catch_signals

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    try:
        catch_signals()
        from arcrank.cli.app import main as run

        run()
    except KeyboardInterrupt:  # before the command began or after it ended: there is nothing to put in order
        try:
            os.write(2, b"Interrupted.\n")
        finally:  # standard error may be closed
            os._exit(130)


if __name__ == "__main__":
    main()
