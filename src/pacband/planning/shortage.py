"""The error for too few samples: what (ε, δ) need, and what these samples can promise instead."""

from __future__ import annotations

from pacband.core.wording import round_up
from pacband.exceptions import NotEnoughSamples
from pacband.planning.shares import DeltaShare

__all__ = ["not_enough_samples"]


def not_enough_samples(
    eps: float,
    delta: float,
    share: DeltaShare,
    needs: str,
    *,
    n_samples: int,
    needed: int | None,
    eps_here: float,
    delta_here: float,
) -> NotEnoughSamples:
    """Return the error. `needs` says what is needed; an ε or δ of one or more is no offer."""
    offers = [
        *([f"eps={_format_offer(eps_here)} at this delta"] if eps_here < 1 else []),
        *([f"delta={_format_offer(delta_here)} at this eps"] if delta_here < 1 else []),
    ]
    instead = f" These samples can promise {', or '.join(offers)}." if offers else ""
    return NotEnoughSamples(
        f"eps={eps:g} and delta={delta:g}{_shared_words(share)} {needs}, got n_samples={n_samples}.{instead}",
        n_samples=n_samples,
        needed=needed,
        eps_here=eps_here if eps_here < 1 else None,
        delta_here=delta_here if delta_here < 1 else None,
    )


def _shared_words(share: DeltaShare) -> str:
    if share.weight is not None:
        return f", at weight {share.weight:g},"
    return f", shared {share.n_candidates} ways," if share.n_candidates > 1 else ""


def _format_offer(probability: float) -> str:
    """Format three digits, rounded up so that the promise holds as printed. Just below one, format all digits."""
    rounded = round_up(probability, 3)
    return f"{rounded:g}" if rounded < 1 else repr(probability)
