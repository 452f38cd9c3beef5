"""``python -m pacband`` is the command line."""

from pacband.cli import main

if __name__ == "__main__":
    main()
