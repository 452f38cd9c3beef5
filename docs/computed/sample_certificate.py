"""A sample certificate on one sheet of A4, for the page that explains how to read one."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

import numpy as np

import pacband
from pacband.core.look import COLOURS, default_settings, figure_of
from pacband.core.wording import bound, percent, unbroken
from pacband.reporting.figures.violation import draw_violation, violation_numbers
from pacband.reporting.page.svg import inline_svg

ABOUT = pacband.About(
    name="Pump 7, pressure model", target="pressure", unit="bar", scope="4 to 9 bar; one row is one measurement"
)
N_NEXT = 1000
Array = np.ndarray[Any, Any]

CSS = """
@page { size: A4; margin: 14mm 16mm; }
:root { %s }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 178mm; padding: 8mm 0; background: #fff; color: var(--ink); overflow-wrap: anywhere;
  font: 10pt/1.42 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif; }
header, main { padding: 0 4mm; }
h1 { font-size: 18pt; margin: 0; }
h2 { font-size: 11pt; margin: 4mm 0 1mm; }
p { margin: 1mm 0; }
.promise { border-left: 1mm solid var(--band); background: #eef5fa; padding: 3mm 4mm;
  font-size: 12.5pt; font-weight: 600; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 0 8mm; }
.two > * { min-width: 0; }
table { border-collapse: collapse; width: 100%%; font-size: 9.5pt; }
th { text-align: left; font-weight: 400; color: var(--muted); } td { text-align: right; white-space: nowrap; }
th, td { padding: .7mm 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
ul { margin: 1mm 0; padding-left: 5mm; }
svg { width: 100%%; height: auto; } svg text { font-family: inherit; }
.mark { display: inline-block; min-width: 1.35em; text-align: center; border: 1px solid var(--ink);
  border-radius: 1em; font-size: 8pt; font-weight: 600; }
.muted { color: var(--muted); font-size: 8.5pt; }
.sign { display: grid; grid-template-columns: 2fr 1fr; gap: 8mm; margin-top: 14mm; }
.sign span { border-top: 1px solid var(--ink); padding-top: 1mm; font-size: 8.5pt; }
@media (max-width: 600px) { .two { grid-template-columns: 1fr; } }
@media print { body { padding: 0; } header, main { padding: 0; } .two { grid-template-columns: 1fr 1fr; } }
"""


def rows() -> tuple[Array, Array]:
    """Return the measured pressures of the sample and their predictions."""
    rng = np.random.default_rng(7)
    predicted = rng.uniform(4.0, 9.0, 2000)
    return predicted + 0.12 * rng.standard_normal(2000), predicted


@cache
def sample() -> tuple[pacband.Certificate, bool]:
    """Return the certificate, and whether the checks of its rows found nothing."""
    pressure, predicted = rows()
    certificate = pacband.certify(pressure, predicted, eps=0.05, delta=0.001, about=ABOUT)
    return certificate, pacband.diagnose(pressure, predicted).sound


def page() -> str:
    """Return the sheet."""
    certificate, sound = sample()
    with default_settings():
        drawn = figure_of(draw_violation(violation_numbers(certificate)))
        picture = inline_svg(drawn, name="violation", title="Where the true violation lies", description="Its density.")
    colours = " ".join(f"--{role}: {colour};" for role, colour in COLOURS.items())
    low, high = map(percent, certificate.violation_interval(0.95))
    numbers = [
        (2, "share of errors that may exceed the bound, ε", percent(certificate.eps)),
        (3, "largest share of calibrations with a wrong promise, δ", percent(certificate.delta)),
        (4, "bound γ̄, in bar", bound(certificate.gamma)),
        (5, "calibration rows N, rank r", f"{certificate.n_samples:,}, {certificate.chosen_rank}"),
        (6, "expected violation, r/(N + 1)", percent(certificate.expected_violation)),
        (6, "true share, in 95 of 100 calibrations", f"{low} to {high}"),
        (7, f"most violations among the next {N_NEXT:,} rows", str(certificate.outlook(N_NEXT))),
    ]
    cells = "".join(
        f"<tr><th>{_mark(k)} {escape(name)}</th><td>{escape(value)}</td></tr>" for k, name, value in numbers
    )
    facts = " · ".join(f"{name.capitalize()}: {text}" for name, text in ABOUT.facts()[1:])
    vouched = "".join(f"<li>{escape(text)}.</li>" for text in certificate.assumptions)
    found = "found nothing against them" if sound else "found evidence against them"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sample certificate: {escape(ABOUT.name)}</title><style>{CSS % colours}</style></head><body>
<header><p class="muted">Sample. The rows are simulated. The numbers in circles are those of
<a href="reading_a_certificate.html">Reading a certificate</a>.</p><h1>{escape(ABOUT.name)}</h1>
<p class="muted">{escape(facts)}</p></header>
<main>
<h2>{_mark(1)} The promise</h2>
<p class="promise">{unbroken(escape(certificate.promise), unit=ABOUT.unit)}</p>
<p>y is the measured pressure, T(x) the prediction of the model, and |y − T(x)| the error, also called the score.</p>
<div class="two"><div><h2>The numbers</h2><table>{cells}</table></div>
<div>{picture}</div></div>
<div class="two"><div><h2>{_mark(8)} It holds if</h2><ul>{vouched}</ul>
<p>The checks of the rows {found}. They cannot prove these conditions; the signer vouches for them.
The predictor is the model. It was the only candidate, and has no scale.</p></div>
<div><h2>{_mark(9)} It does not promise</h2><ul>
<li>anything about one particular x, or a small group of rows: ε is the share among all rows;</li>
<li>anything after the pump, the sensors or their use have changed;</li>
<li>how far an error exceeds the bound if it does.</li></ul></div></div>
<h2>{_mark(10)} Where it comes from</h2>
<p>Fingerprint of the scores: {certificate.data_digest}. Made on {certificate.created[:10]} with pacband
{certificate.pacband_version}. With this rank, the promise is wrong with a probability of at most
{bound(certificate.attained_delta)} (the attained δ). Whoever has the rows can recompute the bound:
<code>certificate.verify(y, y_pred)</code>, or
<code>pacband report cert.json rows.csv --target pressure --prediction predicted</code>.</p>
<div class="sign"><span>Name, signature</span><span>Date</span></div>
</main></body></html>
"""


def _mark(k: int) -> str:
    return f'<span class="mark">{k}</span>'
