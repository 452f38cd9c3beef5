"""One warning for all findings, in every function that makes a promise."""

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.checks.cures import group_cure, label_cure, serial_cure
from pacband.checks.finding import Finding, Kind
from pacband.checks.warning import warn_of_findings
from pacband.cli.shell_words import in_shell_words
from support.clean_rows import machines, series

MACHINE = "rows of one machine resemble each other: intra-class correlation 0.9"


def ways(table):
    y, p = table["y"].to_numpy(), table["p"].to_numpy()
    return {
        "certify": lambda: pacband.certify(y, p),
        "certify_family": lambda: pacband.certify_family(y, {"a": p, "b": (p, np.ones(len(p)))}),
        "certify_groups": lambda: pacband.certify_groups(y, p, np.arange(len(y)) % 2),
        "certify_tolerance": lambda: pacband.certify_tolerance(y, p, 3.0),
        "certify_scores": lambda: pacband.certify_scores(np.abs(y - p)),
        "certify_frame": lambda: pacband.certify_frame(table, target="y", prediction="p"),
    }


@pytest.mark.parametrize("way", ways(pd.DataFrame({"y": [0.0], "p": [0.0]})))
def test_every_way_to_a_promise_warns_once(rng, way):
    table = pd.DataFrame({"y": series(rng, 8760, 0.9), "p": np.zeros(8760)})
    with pytest.warns(pacband.PromiseWarning, match="errors depend on|scores depend on") as caught:
        ways(table)[way]()
    assert len(caught) == 1
    assert [finding.check for finding in caught[0].message.findings] == ["serial dependence"]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_machines_are_found_in_tables_of_every_library(rng, library):
    table = machines(rng, 200, 50, 0.94, shuffled=True)
    if library == "polars":
        table = pytest.importorskip("polars").from_pandas(table)
    elif library == "pyarrow":
        table = pytest.importorskip("pyarrow").Table.from_pandas(table, preserve_index=False)
    elif library == "duckdb":
        table = pytest.importorskip("duckdb").from_df(table)
    with pytest.warns(pacband.PromiseWarning, match=MACHINE):
        pacband.certify_frame(table, target="y", prediction="p")
    units = pacband.draws.Units("machine")
    assert pacband.certify_frame(table, target="y", prediction="p", eps=0.1, delta=0.01, draws=units).n_samples == 200


def test_the_warning_can_be_an_error(rng, recwarn):
    import warnings

    warnings.simplefilter("error", pacband.PromiseWarning)
    with pytest.raises(pacband.PromiseWarning, match="the promise may not hold: PB001 "):
        pacband.certify(series(rng, 2000, 0.9), np.zeros(2000))


def test_no_finding_is_no_warning_and_bad_input_is_named_first(rng):
    warn_of_findings([])
    with pytest.raises(pacband.InvalidInput, match="NaN"):
        pacband.certify(np.r_[np.nan, series(rng, 2000, 0.9)], np.zeros(2001))


def test_cures_are_in_the_words_of_the_place():
    assert "draws=pacband.draws.Units('machine')" in label_cure("machine")
    told = in_shell_words(label_cure("machine"))
    assert "Use --unit machine if new ones are to come, or --group machine if" in told
    assert "Use --gap A, with a gap A beyond" in in_shell_words(serial_cure())
    for cure in (label_cure("it's"), serial_cure(), group_cure()):
        assert not {"pacband", "draws", "certify_groups"} & set(in_shell_words(cure).replace(".", " ").split())


def test_a_finding_says_how_certain_it_is():
    finding = Finding(
        code=Kind.DRIFT, check="drift", seen="seen", p_value=1e-9, effect="Effect.", advice="Advice.", column="when"
    )
    assert str(finding) == "PB002 drift: seen (by chance with probability 1 × 10⁻⁹). Effect. Advice."
    assert finding.at(0.0).certainty == "certain"
    assert finding.name == "drift along when"
