"""Parquet files that make one table: the columns of each file, and whether the columns of all fit together.

DuckDB, Dask and Spark treat files that differ in different ways, and some cast all values to the types of the first
file. So the files are compared here, before any of them is read.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pacband.core.arrays import EXACT, refuse_large_integers
from pacband.exceptions import InvalidInput
from pacband.tables.connection import connect, literal, literals, quoted
from pacband.tables.delimited import refuse_twins
from pacband.tables.parquet_footer import columns_end, read_footer
from pacband.tables.paths import Found

__all__ = ["ParquetTable", "parquet_table"]

_INTEGERS = frozenset(
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
)
_EXACT_IN = {"FLOAT": 2**24, "DOUBLE": EXACT}
# The type that DuckDB gives a column without any value: it fits every type.
_NOTHING = '"NULL"'


@dataclass(frozen=True)
class ParquetTable:
    """Parquet files with the same columns.

    Attributes
    ----------
    files : tuple of Found
        The files.
    kinds : tuple of (mapping of str to str, list of Found)
        The types of the columns as DuckDB calls them, and the files that have them.
    keys : mapping of str to str
        The columns made from names of directories, and their types.
    """

    files: tuple[Found, ...]
    kinds: tuple[tuple[Mapping[str, str], list[Found]], ...]
    keys: Mapping[str, str]

    def select(self, columns: Iterable[str] | None = None) -> str:
        """Return SQL for the table, with these columns or all; raise if the files do not fit together."""
        names = [*self.kinds[0][0], *self.keys]
        wanted = names if columns is None else [name for name in names if name in set(columns)]
        mixed = [name for name in wanted if name not in self.keys and len(self._types(name)) > 1]
        for name in mixed:
            self._check_types(name)
        listed = ", ".join(
            f"cast({quoted(name)} as {self.keys[name]}) as {quoted(name)}" if name in self.keys else quoted(name)
            for name in wanted
        )
        options = {"hive_partitioning": bool(self.keys), "union_by_name": bool(mixed)}
        if self.keys:
            options["hive_types_autocast"] = False
        return f"select {listed} from {_read(self.files, **options)}"

    def is_uniform(self, columns: Iterable[str]) -> bool:
        """Return whether these columns are in the files themselves, with the same type in all files."""
        return all(name in self.kinds[0][0] and len(self._types(name)) == 1 for name in columns)

    def _types(self, name: str) -> dict[str, list[Found]]:
        types: dict[str, list[Found]] = {}
        for kinds, files in self.kinds:
            types.setdefault(kinds[name], []).extend(files)
        return types

    def _check_types(self, name: str) -> None:
        """Raise unless one type holds the values of a column in all files."""
        types = self._types(name)
        known = types.keys() - {_NOTHING}
        integers, floats = known & _INTEGERS, known & _EXACT_IN.keys()
        decimals = {kind for kind in known if kind.startswith("DECIMAL")}
        if len(known) > 1 and known not in (integers | floats, integers | decimals):
            (first, (one, *_)), (second, (other, *_)) = list(types.items())[:2]
            raise InvalidInput(
                f"column {name!r} is {first} in {one.shown} and {second} in {other.shown}: write both with one type."
            )
        united = "DOUBLE" if "DOUBLE" in floats else "FLOAT"
        if integers and floats:
            column = quoted(name)
            for kind in integers:
                with connect(paths=[file.path for file in types[kind]]) as connection:
                    ((largest,),) = connection.sql(
                        f"select max(greatest({column}::hugeint, -({column}::hugeint))) from {_read(types[kind])}"
                    ).fetchall()
                if (largest or 0) > _EXACT_IN[united]:
                    if united == "DOUBLE":
                        refuse_large_integers(f"{types[kind][0].shown}: column {name!r}")
                    raise InvalidInput(
                        f"column {name!r} is {kind} in {types[kind][0].shown}, with integers beyond 2**24, and FLOAT "
                        f"in {types['FLOAT'][0].shown}: write both as DOUBLE."
                    )


def parquet_table(files: Sequence[Found]) -> ParquetTable:
    """Return the files as one table, or raise if one of them lacks a column of the others."""
    kinds: list[tuple[Mapping[str, str], list[Found]]] = []
    for alike in _group_by_columns(files):
        types = _describe(alike[0])
        if kinds:
            _check_names(kinds[0][0], kinds[0][1][0], types, alike[0])
        kinds.append((types, alike))
    return ParquetTable(tuple(files), tuple(kinds), _keys(files, list(kinds[0][0])))


def _describe(file: Found) -> dict[str, str]:
    """Return the columns of a file and their types."""
    with connect(paths=[file.path]) as connection:
        rows = connection.sql(
            f"select name, num_children from parquet_schema({literal(glob.escape(file.path))})"
        ).fetchall()
        refuse_twins(list(_top_names(rows)), file.shown)
        read = _read([file])
        return {row[0]: row[1] for row in connection.sql(f"describe select * from {read}").fetchall()}


def _top_names(rows: Sequence[tuple[str, int | None]]) -> Iterable[str]:
    """Yield the columns of a schema. It lists the parts of a nested column right after the column."""
    inside = 0
    for name, children in rows[1:]:
        if not inside:
            yield name
        inside += (children or 0) - (1 if inside else 0)


def _read(files: Sequence[Found], **options: bool) -> str:
    paths = literals(glob.escape(file.path) for file in files)
    given = {"hive_partitioning": False, **options}
    return f"read_parquet({paths}, {', '.join(f'{name} = {str(value).lower()}' for name, value in given.items())})"


def _check_names(names: Mapping[str, str], first: Found, others: Mapping[str, str], other: Found) -> None:
    for missing, here, there in ((names.keys() - others, other, first), (others.keys() - names, first, other)):
        if missing:
            listed = ", ".join(map(repr, sorted(missing)[:3]))
            raise InvalidInput(f"{here.shown} has no column {listed}, which {there.shown} has.")


def _keys(files: Sequence[Found], columns: Sequence[str]) -> dict[str, str]:
    """Return the columns made from directories such as ``year=2024``, and their types."""
    keys = [key for key, _ in files[0].keys]
    for file in files:
        if [key for key, _ in file.keys] != keys:
            raise InvalidInput(
                f"{file.shown} and {files[0].shown} are in directories with different keys: "
                f"{[key for key, _ in file.keys]} and {keys}."
            )
    if not keys:
        return {}
    refuse_twins(keys, f"the path {files[0].shown}")
    known = {name.lower(): name for name in columns}
    for key in [*keys, *(key for file in files for key in file.above)]:
        if key.lower() in known:
            raise InvalidInput(
                f"{files[0].shown} has a column {known[key.lower()]!r}, and the directory {key}=… above it would "
                "replace it: rename the directory, or name the files one by one."
            )
    if any(set(file.above) & set(keys) or file.above != files[0].above for file in files):
        raise InvalidInput(f"the directories above {files[0].shown} have other keys: name the files one by one.")
    values = {key: {dict(file.keys)[key] for file in files} for key in keys}
    return {key: "bigint" if all(map(_is_integer, values[key])) else "varchar" for key in keys}


def _is_integer(text: str) -> bool:
    return re.fullmatch("-?[0-9]{1,18}", text) is not None and str(int(text)) == text


def _group_by_columns(files: Sequence[Found]) -> list[list[Found]]:
    """Group files by the columns in their footers. Ten thousand files with the same columns take little time."""
    if len(files) == 1:
        # One file is one group, but it may have been cut off.
        read_footer(files[0].path, files[0].shown)
        return [list(files)]
    groups: dict[bytes, list[Found]] = {}
    for file in files:
        footer = read_footer(file.path, file.shown)
        schema = next((known for known in groups if footer.startswith(known)), None)
        if schema is None:
            try:
                schema = footer[: columns_end(footer)]
            except (IndexError, RecursionError):
                raise InvalidInput(f"{file.shown} is a damaged Parquet file: its footer cannot be read.") from None
        groups.setdefault(schema, []).append(file)
    return list(groups.values())
