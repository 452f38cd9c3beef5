"""``pacband`` and ``python -m pacband`` are the command line."""

import sys
from typing import Any

__all__ = ["main"]


def main() -> Any:
    """Run the command line, or print which packages it needs."""
    try:
        from pacband.cli import main as run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        from pacband.core.extras import missing_extra

        print(f"pacband: {missing_extra('click', purpose='the command line')}", file=sys.stderr)
        sys.exit(2)
    return run()


if __name__ == "__main__":
    main()
