"""The command line: one file a command; no mathematics here.

A command is imported when it is called for, so that ``pacband --version`` and ``pacband --help`` start no scientific
library. What goes wrong is said in one line on stderr; `_ending` lists the exit codes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from pacband import __version__
from pacband.exceptions import PacbandError

__all__ = ["main"]

# In the order of use; each is the attribute `command` of the module of its name.
COMMANDS = {
    "demo": "The paper's example, end to end.",
    "plan": "How many samples does a promise take?",
    "certify": "Certify a column of predictions.",
    "apply": "Add the certified band to new predictions.",
    "check": "Does the promise hold on labelled data?",
    "diagnose": "Do the data break the assumptions?",
    "report": "Write a page that explains a certificate.",
    "fit": "Train, certify and save a model from a table.",
    "predict": "Predict with a saved model, band and all.",
    "monitor": "Watch the promise after deployment.",
    "completion": "Print the shell's completion script.",
}


class _Commands(click.Group):
    """Commands that are loaded when called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pacband.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"no such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


EXAMPLES = """
\b
Examples:
  pacband plan --eps 0.05 --delta 1e-6
  pacband certify data.parquet --target y --prediction yhat -o cert.json
  pacband apply cert.json new.csv -o bands.csv

\b
Exit codes:
  0    done
  1    a promise does not hold, or something would break it
  2    bad input; nothing was written
  70   an error that nobody foresaw; PACBAND_DEBUG=1 shows where it comes from
  129, 130, 143    ended by SIGHUP, Ctrl-C or SIGTERM
"""


@click.group(cls=_Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pacband", message="%(prog)s %(version)s")
def pacband() -> None:
    """Say how wrong a prediction model can be, and keep your word."""


def main() -> Any:
    """Run the command line."""
    from pacband.cli.console import speak_plainly
    from pacband.cli.ending import ending
    from pacband.cli.warnings import plain_warnings

    speak_plainly()
    with ending(PacbandError), plain_warnings():
        pacband.main(prog_name="pacband", standalone_mode=False)
