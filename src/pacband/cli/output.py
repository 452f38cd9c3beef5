"""The files that a command reads and writes: no output is an input, no two outputs are one file, and no file is lost.

Every argument and option that names a file has the type `Input` or `Output`. These types compare the files while click
reads the arguments, so no command can forget the check, and an error is raised before anything is read or written. A
standard stream that is redirected to a file counts as an input or output too. A `Command` then looks at the files that
exist: an output replaces only a file of its own kind.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

import click

from pacband.core.paths import files_named
from pacband.exceptions import InvalidInput

__all__ = [
    "TABLES",
    "Command",
    "Input",
    "Output",
    "check_outputs",
    "overwrite_option",
    "refuse_two_results",
    "save_results",
]

# The file extensions that a table can be written to.
TABLES = (".csv", ".txt", ".parquet", ".pq")
# Names of standard output.
_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
# How a file begins that an output may replace, by what the output is. A table may begin with almost anything, but not
# like JSON (as certificates and states do), a page, an archive (as models do), a key, metrics or a figure.
_PAGE, _FIGURE = rb"\s*<(!doctype\s+)?html\b", rb"\x89PNG|%PDF-|<\?xml|<svg"
_BEGINNINGS = {
    "page": _PAGE,
    "report": rb"%b|# .*\n+> |\{\s*\"title\":" % _PAGE,
    "table": rb"(?!\s*\{\s*\"|%b|PK\x03\x04|-----BEGIN |# HELP |%b)" % (_PAGE, _FIGURE),
    "metrics": rb"# HELP pacband_",
    "figure": _FIGURE,
    "plan of a search": rb"\{\s*\"schema\": \"pacband/search-plan\"",
}
# As many bytes of a file are read to see what it is.
_BEGINNING = 512


@dataclass(frozen=True)
class _File:
    """A file by its name, by its real path, and by its device and inode if it exists."""

    name: str
    path: str
    place: tuple[int, int] | None

    @classmethod
    def named(cls, name: str) -> _File:
        try:
            found = os.stat(name)
        except (OSError, ValueError):
            return cls(name, os.path.realpath(name), None)
        return cls(name, os.path.realpath(name), (found.st_dev, found.st_ino))

    @classmethod
    def behind(cls, stream: Any, name: str) -> Iterator[_File]:
        """Yield the regular file that a standard stream is redirected to, if any."""
        try:
            found = os.fstat(stream.fileno())
        except (AttributeError, OSError, ValueError):
            return
        if stat.S_ISREG(found.st_mode):
            yield cls(name, name, (found.st_dev, found.st_ino))

    def same(self, other: _File) -> bool:
        return self.path == other.path or (self.place is not None and self.place == other.place)


class Input(click.Path):
    """The type of an argument or option that names what is read: a file, a glob, a directory, or ``-``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name unchanged, or raise if it names an output of the same command."""
        for file in _inputs(value) if _checks(ctx) else ():
            _files(ctx, "inputs").append(file)
            for output in _files(ctx, "outputs"):
                _refuse_input(output, file)
        return value


class Output(click.Path):
    """The type of an option that names what is written.

    Parameters
    ----------
    kinds : tuple of str
        The extensions that the name may have. By default it may have any.
    stdout : bool
        Whether ``-`` stands for standard output. Otherwise it is refused.
    beside : str
        The extension of a second file that is written beside this one, such as its lock.
    certificate : bool
        Whether a certificate is written. An existing file is then refused, unless ``--overwrite`` is given.
    replaces : {"page", "report", "table", "metrics", "figure", "plan of a search"}, optional
        What is written. An existing file is then replaced if it is one too, or empty, and refused otherwise. By default
        whoever writes the file looks at an existing one.
    """

    def __init__(
        self,
        kinds: tuple[str, ...] = (),
        *,
        stdout: bool = False,
        beside: str = "",
        certificate: bool = False,
        replaces: str | None = None,
    ) -> None:
        super().__init__()
        self.kinds, self.stdout, self.beside, self.certificate = kinds, stdout, beside, certificate
        self.replaces = replaces

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name, or raise if it cannot be written, or names an input or another output."""
        if not _checks(ctx):
            return value
        value = "-" if value in _STDOUT else value
        if value == "-" and not self.stdout:
            option = param.opts[-1] if param is not None else "the output"
            raise InvalidInput(f"{option} needs a file, got -, which stands for standard output.")
        if value == "-":
            _refuse_second_stream(ctx, param)
        for file in self._written(value):
            for other in _files(ctx, "inputs"):
                _refuse_input(file, other)
            for other in _files(ctx, "outputs"):
                _refuse_output(file, other)
            _files(ctx, "outputs").append(file)
            if self.certificate:
                _files(ctx, "certificates").append(file)
            if self.replaces is not None:
                _files(ctx, self.replaces).append(file)
        return value

    def _written(self, name: str) -> Iterator[_File]:
        if name == "-":
            return
        _check_writable(name, self.kinds)
        yield _File.named(name)
        if self.beside:
            yield _File.named(os.path.realpath(name) + self.beside)


class Command(click.Command):
    """A command that writes files: one of another kind in the place of an output is refused before the command runs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments. All inputs are known then, so an output that is an input is refused first."""
        rest = super().parse_args(ctx, args)
        for kind, beginning in _BEGINNINGS.items():
            for file in _files(ctx, kind):
                _refuse_other_kind(file, kind, beginning)
        return rest


@contextmanager
def _writing(output: str) -> Iterator[str]:
    """Yield the name of the file to write. If the output is ``-``, what is in the file goes to standard output."""
    if output != "-":
        yield output
        return
    with TemporaryDirectory(prefix="pacband-") as folder:
        path = os.path.join(folder, "output")
        yield path
        sys.stdout.flush()
        try:
            with open(path, "rb") as file:
                copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except OSError as error:
            error.filename = error.filename or "standard output"
            raise


def save_results(*results: tuple[str | None, Callable[[str], Any]]) -> None:
    """Write results: pairs of a file, or ``-`` for standard output, and the function that saves to a file.

    A result whose file is None is not wanted.
    """
    for output, save in results:
        if output is not None:
            with _writing(output) as file:
                save(file)


def refuse_two_results(as_json: bool, *outputs: str | None) -> None:
    """Raise if JSON and an output both go to standard output."""
    if as_json and "-" in outputs:
        raise click.UsageError("--json prints to standard output: it cannot be combined with an output -.")


def _refuse_existing(ctx: click.Context, _: click.Parameter, overwrite: bool) -> None:
    """Raise if a certificate would replace a file."""
    from pacband.certificate.portable import refuse_existing

    for file in () if overwrite else _files(ctx, "certificates"):
        refuse_existing(file.name)


# If this option is not given, click asks for its value after all that are given. So an output that is an input, or
# another output, is refused first.
overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    expose_value=False,
    callback=_refuse_existing,
    help="Replace the output file if it exists. Without this option, an existing file is refused.",
)


def check_outputs(names: Iterable[str]) -> None:
    """Raise if a file cannot be written, or two of them are one. For names that are not the value of an option."""
    outputs: list[_File] = []
    for name in names:
        _check_writable(name, ())
        file = _File.named(name)
        for other in outputs:
            _refuse_output(file, other)
        outputs.append(file)


def _refuse_second_stream(ctx: click.Context | None, param: click.Parameter | None) -> None:
    """Raise if another option of this command goes to standard output. A default gives way to what the user names."""
    name = "" if param is None or param.name is None else param.name
    if ctx is None or ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
        return
    if ctx.meta.setdefault("pacband.stdout", name) != name:
        raise InvalidInput("two outputs are standard output: choose a file for one of them.")


def _checks(ctx: click.Context | None) -> bool:
    """Return whether a command runs, rather than the completion of a shell."""
    return ctx is not None and not ctx.resilient_parsing


def _files(ctx: click.Context | None, role: str) -> list[_File]:
    """Return the inputs, the outputs, or the outputs of one kind read so far, those of the standard streams first."""
    meta = ctx.meta if ctx is not None else {}
    if not meta.get("pacband.files"):
        meta["pacband.files"] = {
            "inputs": list(_File.behind(sys.stdin, "standard input")),
            "outputs": list(_File.behind(sys.stdout, "standard output")),
        }
    found: list[_File] = meta["pacband.files"].setdefault(role, [])
    return found


def _inputs(name: str) -> Iterator[_File]:
    """Yield the files that this name stands for."""
    if name != "-":
        yield from map(_File.named, files_named(name) or [name])


def _check_writable(output: str, kinds: tuple[str, ...]) -> None:
    suffix = os.path.splitext(output)[1].lower()
    if kinds and suffix not in kinds:
        raise InvalidInput(f"{output}: the name must end in {', '.join(kinds)}, got {suffix or 'no extension'}.")
    folder = os.path.dirname(os.path.realpath(output))
    if not os.path.isdir(folder):
        raise InvalidInput(f"{output}: there is no directory {folder}.")
    if not os.access(folder, os.W_OK) or (os.path.exists(output) and not os.access(output, os.W_OK)):
        raise InvalidInput(f"{output} cannot be written to.")
    if os.path.isdir(output):
        raise InvalidInput(f"{output} is a directory.")


def _refuse_other_kind(output: _File, kind: str, beginning: bytes) -> None:
    if not os.path.isfile(output.path):
        return
    with open(output.path, "rb") as file:
        begins = file.read(_BEGINNING)
    if begins and not re.match(beginning, begins, re.IGNORECASE):
        raise InvalidInput(
            f"{output.name} exists, and is no {kind} that could be replaced: choose another name, or remove the file."
        )


def _refuse_input(output: _File, file: _File) -> None:
    if output.same(file):
        known = "" if output.name == file.name else f" ({file.name})"
        raise InvalidInput(f"the output {output.name} is also an input{known}: choose another name.")


def _refuse_output(output: _File, other: _File) -> None:
    if output.same(other):
        names = " and ".join(dict.fromkeys((other.name, output.name)))
        raise InvalidInput(f"two outputs are one file, {names}: choose different files.")
