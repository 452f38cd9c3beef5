"""The command line: one file a command; no mathematics here.

A command is imported when it is called, so ``pacband --version`` and ``pacband --help`` load no scientific library.
Commands do not import commands: what they share is in modules that are not commands. Errors are printed in one line on
stderr; `pacband.cli.ending` lists the exit codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from pacband import __version__
from pacband.exceptions import PacbandError

__all__ = ["main"]

# In the order of use. Each command is the attribute `command` of the module of its name, with _ for -.
COMMANDS = {
    "demo": "Run the paper's example from start to end.",
    "plan": "Plan how many samples a promise needs.",
    "certify": "Certify a column of predictions.",
    "apply": "Add the certified band to new predictions.",
    "check": "Test the promise on labelled rows.",
    "diagnose": "Test the assumptions of a promise.",
    "report": "Write a page that explains a certificate.",
    "fit": "Train, certify and save a model.",
    "predict": "Predict with a saved model, and add its band.",
    "monitor": "Watch the promise after deployment.",
    "recalibrate": "Renew the promise with fresh rows.",
    "keygen": "Make a key pair for signatures.",
    "sign": "Sign a certificate or a model.",
    "verify-signature": "Check the signature of a certificate or a model.",
    "completion": "Print the completion script of a shell.",
}

# Short names, which the list of commands leaves out.
SHORT = {"verify": "verify-signature"}


class _Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = SHORT.get(name, name)
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pacband.cli.{name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in (*COMMANDS, *SHORT) and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"no such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeats(command, click.Context(command, info_name=name, parent=ctx), rest)
        return name, command, rest

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _let_reader_leave():  # --help and --version print here
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _let_reader_leave():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@contextmanager
def _let_reader_leave() -> Iterator[None]:
    """Convert the error of a closed pipe: click would end with 1, which is a promise that does not hold."""
    try:
        yield
    except BrokenPipeError:
        from pacband.cli.ending import ReaderLeft

        raise ReaderLeft from None


def _refuse_repeats(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise if an option that takes one value is given several times: click would take the last one without a word."""
    try:
        given = command.make_parser(ctx).parse_args(list(args))[2]
    except click.UsageError:
        return  # The command itself finds the same error next.
    for option in dict.fromkeys(given):
        once = isinstance(option, click.Option) and not (option.multiple or option.count)
        # A flag that is given twice states the same twice.
        same = isinstance(option, click.Option) and option.is_flag and not option.secondary_opts
        if once and not same and (times := given.count(option)) > 1:
            raise click.UsageError(f"{max(option.opts, key=len)} must be given once, got it {times} times.", ctx)


EXAMPLES = """
\b
Examples:
  pacband plan --eps 0.05 --delta 1e-6
  pacband certify data.parquet --target y --prediction yhat -o cert.json
  pacband apply cert.json new.csv -o bands.csv

\b
Exit codes:
  0    done
  1    a promise does not hold, or the data break an assumption of the promise
  2    bad input; no result is written
  70   an unexpected error; PACBAND_DEBUG=1 prints the traceback
  129, 130, 143    ended by SIGHUP, Ctrl-C or SIGTERM
"""


@click.group(cls=_Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pacband", message="%(prog)s %(version)s")
def pacband() -> None:
    """Certify how wrong a prediction model can be.

    With confidence 1 − δ, at least a share 1 − ε of future errors stays within the certified bound.
    """


def main() -> Any:
    """Run the command line."""
    from pacband.cli.console import setup_console
    from pacband.cli.ending import handle_exit
    from pacband.cli.warnings import plain_warnings

    setup_console()
    with handle_exit(PacbandError), plain_warnings():
        pacband.main(prog_name="pacband", standalone_mode=False)
