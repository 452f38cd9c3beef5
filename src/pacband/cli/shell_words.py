"""Messages that name arguments of Python functions, in the words of the command line."""

from __future__ import annotations

import re

__all__ = ["in_shell_words"]

# What a message says of an argument, and what a user of the command line calls it.
_WORDS = (
    # The message says what is counted: rows, machines, or rows that are some way apart.
    (r"\bgot n_samples=(\d+)", r"got \1"),
    (r"\bnonfinite='violate'", "--nonfinite violate"),
    (r"\b(eps|delta|rank|weight)=(?=[\d.])", r"--\1 "),
    (r"\b(max_bytes)=(?=\d)", "--max-bytes "),
    (
        r"\b(?:a )?(max_bytes|time_budget|min_scale|calibration_size|eps_good|at_most)\b",
        lambda found: "--" + found[1].replace("_", "-"),
    ),
    (r"\bclip must be a pair \(low, high\) with low < high, got .*", "--clip-min must be smaller than --clip-max."),
    (r"\bclip must be a pair \(low, high\) of numbers or None\b", "--clip-min and --clip-max must be numbers"),
    (r"\bthe range of clip\b", "the range of --clip-min and --clip-max"),
    (r"\bn_candidates\b", "the number of candidates"),
    (r"\bwith prediction= \(and target=\)", "with --prediction (and --target)"),
    (r"\by_pred\b", "the prediction"),
    (r"draws=pacband\.draws\.Units\((['\"])(.+?)\1\)", r"--unit \2"),
    (r"draws=pacband\.draws\.Units\(labels\)", "--unit COLUMN"),
    (r"draws=pacband\.draws\.Spaced\(a\), with a gap a\b", "--gap A, with a gap A"),
    (r"group=(['\"])(.+?)\1 \(groups=\1\2\1 of an estimator, certify_groups for arrays\)", r"--group \2"),
    (r"\bwith certify_groups\b", "with --group"),
    (r"pass draws=Units\(labels, within='?([\w.]+)'?\)", r"pass --unit COLUMN --within \1"),
    (r"with the digest: about=.*\)\}\}\.$", "with --model-file."),
    (r"\bname their column with importance\b", "name their column with --importance"),
    (r"\bpass overwrite=True\b", "add --overwrite"),
    (r"^unit(?= must (?:have|not start|be (?:a text|one line)))", "--unit-of-y"),
    (
        r"^(?:name|issued_by|scope|note|model name|model version)(?= must (?:have|be (?:a text|one line)))",
        lambda found: "--" + re.sub("[ _]", "-", found[0]),
    ),
)


def in_shell_words(message: str) -> str:
    """Return the message with options in place of arguments.

    >>> in_shell_words("eps=0.05 and delta=1e-06 need at least 270 samples at rank 1, got n_samples=100.")
    '--eps 0.05 and --delta 1e-06 need at least 270 samples at rank 1, got 100.'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
