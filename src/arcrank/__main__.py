"""The `arcrank` command, also as `python -m arcrank`: Ctrl-C is handled before anything that takes time is imported."""

import os

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    try:
        from arcrank.cli.signals import catch_signals

        catch_signals()
        from arcrank.cli.app import main as run

        run()
    except KeyboardInterrupt:  # before the command began or after it ended: there is nothing to put in order
        from contextlib import suppress

        with suppress(OSError):  # standard error is closed
            os.write(2, b"Interrupted.\n")
        os._exit(130)


if __name__ == "__main__":
    main()
