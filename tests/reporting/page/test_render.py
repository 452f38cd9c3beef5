"""The page and the Markdown: safe, small, and names are text."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

import pacband
from pacband.core.frozen import FrozenMap
from pacband.core.wording import bound
from pacband.reporting.page.render import render_markdown
from support.certificates import changed
from support.pages import EVIL, Outline


def test_the_page_is_one_sound_document(table):
    X, y, prediction = table
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3)
    page = pacband.report(cert, y, prediction, X=X, title=f"Title {EVIL}", command=f"run {EVIL} && 'x'").html
    outline = Outline(page)
    assert EVIL not in page
    assert outline.tags.count("script") == 1
    assert "b" not in outline.tags
    assert any(EVIL in text for text in outline.text)
    assert len(outline.ids) == len(set(outline.ids))
    assert all(source.startswith(("#", "data:")) for source in outline.sources)
    assert not re.search(r"https?://(?!www\.w3\.org/)", page)
    assert outline.tags.count("h1") == 1
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        assert re.search(r"<title id=[^>]*>[^<]+</title><desc id=[^>]*>[^<]+</desc>", svg)
        # Colours are the page's, so that figures follow it into the dark.
        assert not re.search(r"#[0-9a-f]{6}", svg)


def test_markdown_takes_names_literally(table):
    X, y, prediction = table
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3)
    text = pacband.report(cert, y, prediction, X=X).to_markdown()
    assert EVIL not in text
    assert r"a\$b\|c" in text
    head, rule, *lines = next(block.split("\n") for block in text.split("\n\n") if block.startswith("| feature"))
    assert all(len(re.split(r"(?<!\\)\|", line)) == len(rule.split("|")) for line in [head, *lines])
    assert "\n\n\n" not in text


def test_markdown_takes_the_texts_of_a_file_and_the_names_in_findings_literally(rng):
    text = f"{EVIL}\n\n# x\n\n`"
    calibration, machines = rng.standard_normal(600), rng.permutation(600) // 20
    y = calibration + 3 * rng.standard_normal(30)[machines]
    cert = changed(
        pacband.certify(calibration, 0 * y, delta=1e-3), assumptions=[text], created=text, pacband_version=text
    )
    command = f"pacband report '{text}'"
    rows = pacband.report(cert, y, 0 * y, X=pd.DataFrame({text: machines}), command=command).to_markdown()
    assert any(line.startswith("- PB") and r"\<script\>" in line for line in rows.split("\n"))
    units = pacband.certify(y, 0 * y, draws=pacband.draws.Units(machines, name=text), eps=0.2, delta=0.1)
    one = machines == 0
    few = pacband.report(units, y[one], 0 * y[one], draws=pacband.draws.Units(machines[one])).to_markdown()
    assert "too few to test" in few
    for page in (rows, few):
        for line in page.split("\n"):
            # The command is code. All else is text.
            assert EVIL not in line or line.startswith("- `pacband report")
            assert not line.startswith("# x")


def test_the_diagnosis_is_the_same_in_markdown(rng):
    y = rng.standard_normal(900)
    report = pacband.report(pacband.certify(y, 0 * y, delta=1e-3), np.repeat(y[:300], 3), 0 * y)
    diagnosis = report.summary.of_rows.diagnosis
    assert not diagnosis.sound
    assert f"\n\n{diagnosis}\n\n" in report.to_markdown()
    drawn = replace(diagnosis, rows_used=FrozenMap({"drift": "some rows"}))
    summary = replace(report.summary, of_rows=replace(report.summary.of_rows, diagnosis=drawn))
    assert f"\n\n{drawn}\n\n" in render_markdown(summary)


def test_a_thousand_candidates_or_groups_make_no_book(rng):
    y = rng.standard_normal(30_000)
    candidates = {f"model {k}": y * (k / 1e4) for k in range(1000)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.1)
    groups = pacband.certify_groups(y, 0 * y, np.arange(30_000) % 600, eps=0.4, delta=0.5)
    for page in (pacband.report(family).html, pacband.report(groups).html):
        assert len(page) < 1_000_000
        assert page.count("<tr>") < 450
    assert "model 999 (best)" in pacband.report(family).html


def test_what_the_certificate_is_about_is_on_the_page(table):
    X, y, prediction = table
    about = {"name": EVIL, "target": "wear", "unit": "<i>mm", "issued_by": "a|b", "model": {"digest": "ab" * 32}}
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3, about=about)
    report = pacband.report(cert, y, prediction, X=X)
    outline = Outline(report.html)
    assert EVIL not in report.html
    assert "<i>mm" not in report.html
    assert not {"b", "i"} & set(outline.tags)
    for text in (EVIL, "wear, in <i>mm", "a|b", f"SHA-256 {'ab' * 32}", "on |error|, in <i>mm"):
        assert any(text in shown for shown in outline.text)
    text = report.to_markdown()
    assert EVIL not in text
    assert r"| issued by | a\|b |" in text
    assert "\n\n\n" not in text
    assert report.to_dict()["certificate"]["about"]["unit"] == "<i>mm"
    scaled = pacband.certify(y, prediction, 0 * y + 2, eps=0.1, delta=1e-3, about={"unit": "mm"})
    tiles = pacband.report(scaled, y, prediction, 0 * y + 2).to_markdown()
    assert "times σ̂(x))" in tiles
    assert "of the band over these rows, in mm" in tiles


def test_the_page_says_what_the_promise_says_in_the_same_digits(rng):
    y = rng.standard_normal(900) * 2.08083
    family = pacband.certify_family(y, {"a": 0 * y, "b": (0 * y, 1 + y**2)}, eps=0.1, delta=1e-6)
    for cert, rows in ((family.certificate, ()), (family, ()), (pacband.certify(y, 0 * y, delta=1e-3), (y, 0 * y))):
        report = pacband.report(cert, *rows)
        page, text = "".join(Outline(report.html).text), report.to_markdown()
        assert cert.headline in page
        assert cert.promise in page
        assert f"the bound γ̄ | {bound(cert.single.gamma)} (" in text
        # No shorter number, which would be another one.
        assert not re.search(rf"(?<![\d.]){re.escape(f'{cert.single.gamma:.4g}')}(?!\d)", page)
        assert "T(x) is its prediction" in page


def test_no_number_of_the_page_is_divided_from_its_sign_or_unit(rng):
    y = 1e6 * rng.standard_normal(1000)
    cert = pacband.certify(y, 0 * y, delta=1e-3, about={"target": EVIL, "unit": "R&D %"})
    page = pacband.report(cert, y, 0 * y, X=y[:, None], feature_names=["x"], command="pacband report --level 5 %").html
    text = re.sub(r"<(style|script|svg|title|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    outside = re.sub('<span style="white-space:nowrap">.*?</span>', "", text)
    shown = "".join(Outline(outside).text)
    assert not re.search(r"\d %|[=≤≥] \d|\de[+-]\d|\d × 10", shown)
    assert "</span>\u00a0R&amp;D %" in text
    assert "\u00a0" not in "".join(Outline(page).text).replace("\u00a0R&D %", "")
    assert EVIL not in page
    # Figures and commands are not changed: a command breaks between its words only.
    words = " ".join(f"<span>{word}</span>" for word in ["pacband", "report", "--level", "5", "%"])
    assert f'<pre tabindex="0"><code>{words}</code></pre>' in page


def test_calibration_rows_do_not_confirm_a_promise(paper):
    _, y, predicted, scale, cert = paper
    page = pacband.report(cert, y, predicted, scale).html
    assert "the promise is not tested" in page
    assert "confirmed" not in page
    # Green is for fresh rows.
    assert ".verdict.recomputed" not in page


def test_labels_of_slices_have_no_exponent(rng):
    y = rng.standard_normal(1000)
    size = np.exp(7 + rng.standard_normal(1000))
    page = pacband.report(pacband.certify(y, 0 * y, delta=1e-3), y, 0 * y, X=size[:, None]).html
    assert "e+0" not in page
