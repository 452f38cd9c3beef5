"""Does the promise hold? The verdict on the rows, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass

from pacband.core.wording import percent
from pacband.judging.verdicts import Count, Verdict
from pacband.scores.clip import left_range_words

__all__ = ["UNTESTED", "Answer", "word_verdict"]


@dataclass(frozen=True)
class Answer:
    """The answer in words. `state` is "recomputed", "kept", "contradicted" or "untested"."""

    state: str
    headline: str
    text: str


UNTESTED = Answer("untested", "Not recomputed", "This report was made without rows. It shows the certificate alone.")


def word_verdict(
    verdict: Verdict, *, promised: str, fingerprint_agrees: bool, bound_given: bool = False, weighted: bool = False
) -> Answer:
    """Put a verdict into words; `promised` is what is promised, in words.

    Without their weights, calibration rows of a weighted certificate are not known.
    """
    counts = verdict.counts.values()
    eps = next(iter(counts)).eps
    n_rows, violations = sum(count.n_samples for count in counts), sum(count.violations for count in counts)
    draws = next(iter(counts)).counted
    counted = f"{violations:,} of {n_rows:,} {draws} ({percent(violations / n_rows)}) exceed the bound"
    if verdict.reused and bound_given:
        return Answer(
            "recomputed",
            "The bound agrees with the calibration rows; the promise is not tested",
            "These are the calibration rows, counted again. The count and the fingerprint agree: "
            f"{counted}. Only fresh rows can test the promise.",
        )
    if verdict.reused:
        agreement = (
            "The bound and the fingerprint agree."
            if fingerprint_agrees
            else "The bound agrees to nine digits. The fingerprint does not: predictions that are computed again may "
            "be rounded differently."
        )
        return Answer(
            "recomputed",
            "The bound agrees with the calibration rows; the promise is not tested",
            f"These are the calibration rows, and the bound was computed from them again. {agreement} {counted}, "
            "by construction. Only fresh rows can test the promise.",
        )
    if verdict.out_of_range:
        counted = f"{counted}. {left_range_words(verdict.out_of_range).removesuffix('.')}"
    dependence = sum(count.dependence for count in counts)
    low, high = Count.of(n_rows, violations, eps, dependence=dependence).interval
    exact = "" if dependence else "exact "
    interval = f"The {exact}95 % interval of the true share is {percent(low)} to {percent(high)}."
    if verdict.contradicted:
        # Each group has its own promise: the union bound over them. A p-value of 0 is rounded.
        p_value = max(1e-300, min(1.0, len(counts) * min(count.p_value for count in counts)))
        return Answer(
            "contradicted",
            "These rows contradict the promise",
            f"{counted}. {interval} The promise allows at most {percent(eps)}. If the promise holds, so many "
            f"violations have a probability of at most {p_value:.2g}. Either an assumption below does not hold, or the "
            "distribution has changed.",
        )
    if not verdict.tested:
        return Answer(
            "untested",
            f"These {draws} cannot test the promise",
            f"{counted}. {interval} {verdict.why_untested}",
        )
    return Answer(
        "kept",
        "These rows agree with the promise",
        f"{counted}. {interval} The promise: {promised}. "
        + (f"{verdict.untested_groups} " if verdict.untested_groups else "")
        + (
            "If the calibration rows are among these, they do not test it: only fresh rows do."
            if weighted
            else "These are not exactly the calibration rows. If some of those are among these, they do not test it: "
            "only fresh rows do."
        ),
    )
