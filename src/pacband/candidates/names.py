"""What the names of automatic candidates mean: "blend / trees" is a prediction T and a scale σ̂."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MIXED", "explain_names"]

# The signals of the scale that is called mixed.
MIXED = ("boosting", "trees", "window")

# What the words in the name of a pair mean, for a reader who has seen the name only.
_PREDICTIONS = {
    "blend": "a weighted mean of the predictors",
    "blend half to window": "halfway from blend to window",
    "window": "the middle of the shortest interval that contains most of y at x",
}
_LENGTH = "the length of the shortest interval that contains most of y at x"
_SCALES = {
    "constant": "the same everywhere",
    "spread": "how far the predictors differ at x",
    "window": _LENGTH,
    "mixed": f"the geometric mean of {', '.join(MIXED[:-1])} and {MIXED[-1]}, {_LENGTH}; without those not fitted",
}


def explain_names(names: Iterable[str]) -> list[str]:
    """Return lines that explain the names of pairs; none if no name has a word that needs it.

    Examples
    --------
    >>> print(*explain_names(["linear / constant", "my own model"]), sep=chr(10))
    A name is that of the prediction, then that of σ̂: each is a model, or one of these.
    σ̂ constant: the same everywhere
    """
    parts = [name.split(" / ") for name in names if name.count(" / ") == 1]
    centres, scales = {centre for centre, _ in parts}, {scale for _, scale in parts}
    words = [
        *(f"prediction {word}: {meaning}" for word, meaning in _PREDICTIONS.items() if word in centres),
        *(f"σ̂ {word}: {meaning}" for word, meaning in _SCALES.items() if word in scales),
    ]
    first = "A name is that of the prediction, then that of σ̂: each is a model, or one of these."
    return [first, *words] if words else []
