"""What a promise bounds, in symbols: |y − T(x)| ≤ γ̄·σ̂(x), for one number, several outputs, and the steps of runs.

`symbols` explains the symbols in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pacband.core.wording import bound, share_text

if TYPE_CHECKING:
    from pacband.certificate.promise import Promise

__all__ = ["inequality", "limit_of", "symbols"]


def inequality(promise: Promise, gamma: float) -> str:
    """Return what is bounded, in symbols."""
    limit, rule = limit_of(promise, gamma), promise.scoring
    if rule.own:
        return f"score ≤ {limit}"
    step, where = "" if promise.n_steps is None else "ₜ", _where(promise)
    if rule.matrices:
        error, matrix = f"(y{step} − T{step}(x))", "Σₜ" if rule.per_step else "Σ"
        return f"sqrt({error}ᵀ {matrix}⁻¹ {error}) ≤ {limit}{_factor(promise)}{where}"
    of = step + ("ₖ" if promise.n_outputs > 1 else "")
    error, minus_error = f"y{of} − T{of}(x)", f"T{of}(x) − y{of}"
    if promise.scale_kind == "asymmetric":
        return f"−{limit}{_factor(promise, '⁻')} ≤ {error} ≤ {limit}{_factor(promise, '⁺')}{where}"
    left = {"both": f"|{error}|", "upper": error, "lower": minus_error}[rule.side]
    return f"{left} ≤ {limit}{_factor(promise)}{where}"


def limit_of(promise: Promise, gamma: float) -> str:
    """Return the bound, with the unit of y if the bound is in this unit."""
    return f"{bound(gamma)} {promise.about.unit}" if promise.bound_in_unit and promise.about.unit else bound(gamma)


def symbols(promise: Promise) -> str:
    """Return what the symbols of `inequality` and γ̄ stand for, in one sentence."""
    if promise.scoring.own:
        return "γ̄ is the bound on the score."
    about = promise.about
    # A column that is called y has no other name.
    target = about.target if about.target not in (None, "y") else "the true value"
    meanings = [f"y is {about.in_unit(target)}", "T(x) is its prediction"]
    if promise.scale_kind == "asymmetric":
        meanings.append("σ̂⁻(x) and σ̂⁺(x) are the expected sizes of the error below and above the prediction")
    elif promise.scale_kind != "none":
        meanings.append("σ̂(x) is the expected size of the error at x")
    if promise.scoring.matrices:
        meanings.append("Σ is the matrix that weighs the outputs")
    factor = promise.scale_kind != "none" or promise.scoring.matrices
    meanings.append("γ̄ is the certified factor" if factor else "γ̄ is the certified bound")
    return f"{', '.join(meanings[:-1])}, and {meanings[-1]}."


def _where(promise: Promise) -> str:
    """Return in which steps and outputs the inequality holds."""
    share, several = promise.scoring.share, promise.n_outputs > 1 and not promise.scoring.matrices
    if promise.n_steps is None:
        return " in every output k" if several else ""
    if share is None:
        return " in every step t and output k" if several else " in every step t"
    return f"{' for all outputs k' if several else ''} in at least {share_text(share.share)} of the steps t"


def _factor(promise: Promise, end: str = "") -> str:
    """Return ·σ̂(x), with the floor that is put under it."""
    if promise.scale_kind == "none":
        return ""
    # Every output may have a scale of its own. An ellipsoid has one scale for all of them.
    each = "ₖ" if promise.n_outputs > 1 and not promise.scoring.matrices else ""
    sigma, floor = f"σ̂{'' if promise.n_steps is None else 'ₜ'}{each}{end}(x)", promise.scoring.min_scale
    return f"·{sigma}" if floor is None else f"·max({sigma}, {bound(floor)})"
