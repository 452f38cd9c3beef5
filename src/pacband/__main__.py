"""``pacband`` and ``python -m pacband`` are the command line."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or print which packages it needs."""
    try:
        try:
            from pacband.cli import main as run
        except ModuleNotFoundError as error:
            if error.name != "click":
                raise
            from pacband.core.extras import missing_extra

            print(f"pacband: {missing_extra('click', purpose='the command line')}", file=sys.stderr)
            sys.exit(2)
        run()
    except KeyboardInterrupt:
        # Ctrl-C while the command line itself is imported. Later, `pacband.cli.ending` handles it.
        print("pacband: interrupted; no file is half written.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
