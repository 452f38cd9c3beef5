"""Messages that name arguments of Python functions, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["cure_in_shell_words", "in_shell_words"]

Rules: TypeAlias = tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]

# A call in the cure of a finding, and the options in its place.
_CURES: Rules = (
    (r"draws=pacband\.draws\.Units\((['\"])(.+?)\1\)", r"--unit \2"),
    (r"draws=pacband\.draws\.Units\(labels\)", "--unit COLUMN"),
    (r"draws=pacband\.draws\.Spaced\(a\), with a gap a\b", "--gap A, with a gap A"),
    (r"group=(['\"])(.+?)\1 \(groups=\1\2\1 of an estimator, certify_groups for arrays\)", r"--group \2"),
    (r"\bwith certify_groups\b", "with --group"),
)
# Sentences that name arguments with their values.
_SENTENCES: Rules = (
    (r"\bnonfinite='violate'", "--nonfinite violate"),
    (r"\bclip must be a pair \(low, high\) with low < high, got .*", "--clip-min must be smaller than --clip-max."),
    (r"\bclip must be a pair \(low, high\) of numbers or None\b", "--clip-min and --clip-max must be numbers"),
    (r"\bthe range of clip\b", "the range of --clip-min and --clip-max"),
    (r"\bwith prediction= \(and target=\)", "with --prediction (and --target)"),
    (r"pass draws=Units\(labels, within='?([\w.]+)'?\)", r"pass --unit COLUMN --within \1"),
    (r"with the digest: about=.*\)\}\}\.$", "with --model-file."),
    (r"\bpass the rows of one (.+?) after the other, or name the complete .+ with complete\.", r"sort the file by \1."),
    (r"\bname their column with importance\b", "name their column with --importance"),
    (r"\bpass overwrite=True\b", "add --overwrite"),
    (r"^unit(?= must (?:have|not start|be (?:a text|one line)))", "--unit-of-y"),
    (
        r"^(?:name|issued_by|scope|note|model name|model version)(?= must (?:have|be (?:a text|one line)))",
        lambda found: "--" + re.sub("[ _]", "-", found[0]),
    ),
)
# Arguments, and what a user of the command line calls them.
_NAMES: Rules = (
    # The message says what is counted: rows, machines, or rows that are some way apart.
    (r"\bgot n_samples=(\d+)", r"got \1"),
    (r"\b(eps|delta|rank|weight)=(?=[\d.])", r"--\1 "),
    (r"\b(max_bytes)=(?=\d)", "--max-bytes "),
    (
        r"\b(?:a )?(max_bytes|time_budget|min_scale|calibration_size|eps_good|at_most)\b",
        lambda found: "--" + found[1].replace("_", "-"),
    ),
    (r"\bn_candidates\b", "the number of candidates"),
    (r"\by_pred\b", "the prediction"),
)
# What the user named stands in quotes. An apostrophe within a word is no quote.
_QUOTED = re.compile(r"((?<!\w)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w))")


def in_shell_words(message: str) -> str:
    """Return the message with options in place of arguments. What stands in quotes is a name of the user, and stays.

    >>> in_shell_words("eps=0.05 and delta=1e-06 need at least 270 samples at rank 1, got n_samples=100.")
    '--eps 0.05 and --delta 1e-06 need at least 270 samples at rank 1, got 100.'
    >>> in_shell_words("there is no column 'y_pred'.")
    "there is no column 'y_pred'."
    """
    message = _replace(cure_in_shell_words(message), _SENTENCES)
    parts = _QUOTED.split(message)
    parts[::2] = [_replace(part, _NAMES) for part in parts[::2]]
    return "".join(parts)


def cure_in_shell_words(text: str) -> str:
    """Return a finding with options in place of calls. Other words may be names of the user's columns."""
    return _replace(text, _CURES)


def _replace(text: str, rules: Rules) -> str:
    for pattern, words in rules:
        text = re.sub(pattern, words, text)
    return text
