"""Numbers as people of different countries write them: which mark is the decimal mark, and which groups thousands.

A text has at most one meaning in one format: "1.234" is 1.234 in English, 1234 in German, and no number in French.
`NumberFormat.plain` rewrites a number to the format of programming languages, from which it is read to the last bit;
`NumberFormat.plain_sql` is its twin in SQL.

`find_format` chooses the format of a table from a sample of its cells. It only chooses what the cells prove. A column
in which every mark has two meanings, such as "1,234", is `unclear`. In a file whose delimiter is no comma, "1.234"
has two meanings as well, unless something proves that its point is a decimal point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pacband.core.cells import is_gap
from pacband.exceptions import InvalidInput

__all__ = [
    "PLAIN",
    "PLAIN_FORMAT",
    "SAY_HOW",
    "UNCLEAR_NUMBERS",
    "UNCLEAR_POINTS",
    "FoundFormat",
    "NumberFormat",
    "check_marks",
    "find_format",
    "is_grouped_sql",
    "looks_written_otherwise",
    "other_format_sql",
    "refuse_unclear",
]

# What to do about a number that is written in another way.
SAY_HOW = "State how numbers are written, with --decimal and --thousands."
# What an error says about a column of numbers with two meanings.
UNCLEAR_NUMBERS = (
    "the numbers of column {column!r} have two meanings, because its marks may be decimal marks or thousands. "
    f"{SAY_HOW}"
)
# What to add if the marks are points.
UNCLEAR_POINTS = " With --decimal . the number 1.234 is between 1 and 2, with --thousands . it is 1234."

# A mark that the user names, and all characters that stand for it in files: blanks that do not break, curly quotes.
_MARKS = {".": ".", ",": ",", " ": " \u00a0\u202f", "'": "'\u2019"}
_BLANKS = " \t\r\n\u00a0\u202f"
# A number in the plain format that is another one if points group thousands.
_GROUPED = "[+-]?[1-9][0-9]{0,2}[.][0-9]{3}"
# A column of numbers may have a few mistakes in it.
_MEANT_AS_NUMBERS = 0.9


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written.

    Attributes
    ----------
    decimal : {".", ","}
        The decimal mark.
    thousands : {"", ".", ",", " ", "'"}
        The mark between groups of three digits; empty if there is none.

    Examples
    --------
    >>> german = NumberFormat(",", ".")
    >>> [german.plain(text) for text in ("1.234,5", "-7", "1.5", "0,1")]
    ['1234.5', '-7', None, '0.1']
    """

    decimal: str = "."
    thousands: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as in programming languages."""
        return self == PLAIN

    @property
    def pattern(self) -> str:
        """A regular expression for the numbers, in Python and in SQL."""
        decimal = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands:
            whole = f"({whole}|[1-9][0-9]{{0,2}}({self._thousands}[0-9]{{3}})+)"
        return f"[+-]?({whole}({decimal}[0-9]*)?|{decimal}[0-9]+)([eE][+-]?[0-9]{{1,4}})?"

    def plain(self, text: str) -> str | None:
        """Return a number as programming languages write it; None if the text is no number in this format."""
        text = text.strip(_BLANKS)
        if not self._compiled.fullmatch(text):
            return None
        if self.thousands:
            text = re.sub(self._thousands, "", text)
        return text.replace(self.decimal, ".")

    def plain_sql(self, text: str) -> str:
        """Return SQL for a text, a SQL expression, as programming languages write it; null if it is no number."""
        trimmed = _trimmed_sql(text)
        bare = f"regexp_replace({trimmed}, '{self._thousands_sql}', '', 'g')" if self.thousands else trimmed
        return (
            f"(case when regexp_full_match({trimmed}, '{self.pattern.replace(chr(39), chr(39) * 2)}') "
            f"then replace({bare}, '{self.decimal}', '.') end)"
        )

    def __str__(self) -> str:
        name = {",": "decimal comma", ".": "decimal point"}[self.decimal]
        return f"{name} and thousands {self.thousands!r}" if self.thousands else name

    @property
    def _thousands(self) -> str:
        return f"[{_MARKS[self.thousands]}]"

    @property
    def _thousands_sql(self) -> str:
        return self._thousands.replace("'", "''")

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


PLAIN = NumberFormat()
_PLAIN = re.compile(PLAIN.pattern)
_IS_GROUPED = re.compile(_GROUPED)
# What every number in another format matches, and most texts do not. This is only for speed.
_OTHERWISE = re.compile("[+-]?[0-9.,' \u00a0\u202f\u2019]*[.,' \u00a0\u202f\u2019][0-9]*([eE][+-]?[0-9]{1,4})?")
# The formats in use, the simplest first.
_FORMATS = tuple(
    NumberFormat(decimal, thousands)
    for thousands in ("", ",", ".", "'", " ")
    for decimal in (".", ",")
    if decimal != thousands
)


@dataclass(frozen=True)
class FoundFormat:
    """The format of the numbers of a table.

    `unclear` are the columns whose numbers may be in another format as well, with other values. `columns` are the clear
    ones in which all cells of the sample are numbers. They are left empty where the format is not proved. `undecided`
    are the columns in which a number such as 1.234 has two meanings: the unclear ones, and those without such a number
    in the sample.
    """

    numbers: NumberFormat
    unclear: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    undecided: frozenset[str] = frozenset()


PLAIN_FORMAT = FoundFormat(PLAIN)


def check_marks(decimal: str | None, thousands: str | None) -> None:
    """Raise if these marks, of which each may be None, are no format of numbers."""
    if decimal not in (None, ".", ","):
        raise InvalidInput(f"the decimal mark must be a point or a comma, got {decimal!r}.")
    if thousands not in (None, "", *_MARKS):
        raise InvalidInput(f"the mark of thousands must be . or , or ' or a blank, got {thousands!r}.")
    if thousands is not None and thousands == decimal:
        raise InvalidInput(f"the decimal mark and the mark of thousands must differ, got {decimal!r} for both.")


def find_format(
    columns: Mapping[str, Iterable[str]],
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    grouping_points: bool = False,
) -> FoundFormat:
    """Return the format of the numbers of a table.

    Parameters
    ----------
    columns : mapping of str to iterable of str
        Cells of every column.
    decimal, thousands : str, optional
        The marks, where the user names them.
    grouping_points : bool
        Whether points may group thousands although no cell proves it. So it is in files whose delimiter is no comma.

    Examples
    --------
    >>> find_format({"y": ["1,5", "1.000,25"], "n": ["3", "4"]}).numbers
    NumberFormat(decimal=',', thousands='.')
    >>> find_format({"y": ["1,25"], "n": ["1.234"]}).unclear
    frozenset({'n'})
    >>> find_format({"n": ["1.234", "567"]}, grouping_points=True).unclear
    frozenset({'n'})
    """
    grouping_points = grouping_points and decimal is None and thousands is None
    allowed = [
        known
        for known in _FORMATS
        if decimal in (None, known.decimal) and (thousands is None or thousands == known.thousands)
    ]
    texts = {name: set(column) for name, column in columns.items()}
    # Most tables are in the plain format: this is quick to see.
    if allowed[0].is_plain and not any(map(looks_written_otherwise, set().union(*texts.values()))):
        return _with_grouping_points(texts) if grouping_points else PLAIN_FORMAT
    cells = {name: {cell for cell in column if not is_gap(cell)} for name, column in texts.items()}
    read = {name: {known: _read(known, texts) for known in allowed} for name, texts in cells.items()}
    best = {name: max(map(len, found.values())) for name, found in read.items()}
    numeric = [name for name in cells if best[name] and best[name] >= _MEANT_AS_NUMBERS * len(cells[name])]
    for chosen in allowed:
        if any(len(read[name][chosen]) < best[name] for name in numeric):
            continue
        whole = frozenset(name for name in numeric if len(read[name][chosen]) == len(cells[name]))
        if chosen.is_plain and grouping_points:
            return _with_grouping_points(cells, whole)
        if chosen.is_plain or len(allowed) == 1:
            return FoundFormat(chosen, columns=whole)
        unclear = frozenset(name for name in numeric if _has_two_meanings(read[name], chosen))
        if allowed[0].is_plain and all(name in unclear or len(read[name][PLAIN]) == best[name] for name in numeric):
            # Nothing proves another format than the plain one.
            break
        return FoundFormat(chosen, unclear, whole - unclear)
    # The columns may also be in different formats: those that are not in the first are refused where they are used.
    unclear = frozenset(name for name in numeric if _has_two_meanings(read[name], allowed[0]))
    undecided = unclear | _with_grouping_points(cells).undecided if grouping_points else frozenset()
    return FoundFormat(allowed[0], unclear, undecided=undecided)


def refuse_unclear(found: FoundFormat, names: Iterable[str], shown: str) -> None:
    """Raise if numbers in one of these columns have two meanings, and the user does not say which."""
    for name in sorted(found.unclear.intersection(names)):
        say = UNCLEAR_POINTS if found.numbers.is_plain else ""
        raise InvalidInput(f"{shown}: {UNCLEAR_NUMBERS.format(column=name)}{say}")


def looks_written_otherwise(text: str) -> bool:
    """Return whether a text is no number in the plain format, and is one in another format in use.

    Examples
    --------
    >>> [looks_written_otherwise(text) for text in ("1,5", "1.234.567", "1 234", "1.5", "1,2,3", "31.12.2025")]
    [True, True, True, False, False, False]
    """
    if _PLAIN.fullmatch(text) or len(text) > 64 or not _OTHERWISE.fullmatch(text.strip(_BLANKS)):
        return False
    return PLAIN.plain(text) is None and any(known.plain(text) is not None for known in _FORMATS)


def other_format_sql(text: str) -> str:
    """Return SQL for whether a text is a number in some format in use other than the plain one."""
    others = " or ".join(f"{known.plain_sql(text)} is not null" for known in _FORMATS if not known.is_plain)
    maybe = f"regexp_matches({text}, '^[^A-Za-z]*[,.''\u2019 \u00a0\u202f][^A-Za-z]*([eE][0-9+-]*)?$')"
    return f"({maybe} and {PLAIN.plain_sql(text)} is null and ({others}))"


def is_grouped_sql(text: str) -> str:
    """Return SQL for whether a text is a number in the plain format, and another one if points group thousands."""
    return f"(contains({text}, '.') and regexp_full_match({_trimmed_sql(text)}, '{_GROUPED}'))"


def _trimmed_sql(text: str) -> str:
    return f"trim({text}, E' \\t\\r\\n\u00a0\u202f')"


def _with_grouping_points(columns: Mapping[str, set[str]], whole: frozenset[str] = frozenset()) -> FoundFormat:
    """Return the plain format of columns in which points may also group thousands.

    A number such as 0.5, 1234.567 or 1.234e3 proves a decimal point in its column. It also proves one in other columns
    if each of their numbers has three decimals. But a column with 1.234 and 567 is not written with three decimals.
    """
    proved = {name for name, texts in columns.items() if any(map(_has_decimal_point, texts))}
    grouped = {
        name
        for name, texts in columns.items()
        if name not in proved and any(map(_is_grouped, texts)) and _are_numbers(texts)
    }
    if any(_are_numbers(columns[name]) for name in proved):
        proved |= {name for name in grouped if not any(map(_has_no_point, columns[name]))}
    unclear = frozenset(grouped - proved)
    return FoundFormat(PLAIN, unclear, whole - unclear, frozenset(columns) - proved)


def _has_decimal_point(text: str) -> bool:
    """Return whether a text is a number in the plain format whose point cannot group thousands."""
    return "." in text and PLAIN.plain(text) is not None and not _is_grouped(text)


def _has_no_point(text: str) -> bool:
    return "." not in text and PLAIN.plain(text) is not None


def _is_grouped(text: str) -> bool:
    return "." in text and _IS_GROUPED.fullmatch(text.strip(_BLANKS)) is not None


def _are_numbers(texts: Iterable[str]) -> bool:
    """Return whether a column is meant as numbers in the plain format, and has some."""
    known = [text for text in texts if not is_gap(text)]
    numbers = sum(PLAIN.plain(text) is not None for text in known)
    return 0 < numbers >= _MEANT_AS_NUMBERS * len(known)


def _read(known: NumberFormat, texts: Iterable[str]) -> dict[str, str]:
    """Return the plain text of every text that is a number in this format."""
    return {text: plain for text in texts if (plain := known.plain(text)) is not None}


def _has_two_meanings(read: Mapping[NumberFormat, Mapping[str, str]], chosen: NumberFormat) -> bool:
    """Return whether another format reads as many texts of a column, and reads a different number from one of them."""
    mine = read[chosen]
    return any(
        len(other) >= len(mine) and any(float(other[text]) != float(mine[text]) for text in mine if text in other)
        for other in read.values()
    )
