"""The screen inside every certify function: what it finds, and how seldom it is wrong."""

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.checks.screening import is_sorted, screen_rows
from pacband.draws import Rows, Spaced, Units
from pacband.scores import ScoreRule, spread_of
from support.clean_rows import KINDS, clean_table, machines, series


def screen(table, *, columns=True, draws=None, groups=None):
    y, p = table["y"].to_numpy(), table["p"].to_numpy()
    rest = table.columns[2:]
    return screen_rows(
        ScoreRule(),
        (draws or Rows()).sample(len(y)),
        y,
        p,
        spread_of(ScoreRule(), None, y.shape),
        groups=groups,
        others=(lambda rows: {name: table[name].to_numpy()[rows] for name in rest}) if columns else None,
    )


def names(findings):
    return [finding.check for finding in findings]


def count_false_findings(rng, runs, sizes):
    """Return how many of so many clean tables have a finding: of every kind, with labels of many sizes, in any order."""
    false = 0
    for run in range(runs):
        table = clean_table(
            rng,
            int(rng.choice(sizes)),
            KINDS[run % len(KINDS)],
            labels=int(rng.choice([6, 20, 60, 200, 1000])),
            ordered=bool(rng.integers(2)),
        )
        false += bool(screen(table))
    return false


def test_clean_tables_have_no_finding(rng):
    """At level 5e-5, 98 clean tables have 3 or more with a finding with probability 2e-8."""
    assert count_false_findings(rng, 98, [150, 400, 1000]) <= 2


@pytest.mark.verify
def test_the_false_alarm_rate_over_many_clean_tables(rng):
    """At level 5e-5, 7000 clean tables have more than 6 with a finding with probability 1e-7."""
    assert count_false_findings(rng, 7000, [150, 400, 1000, 3000, 12_000]) <= 6


@pytest.mark.parametrize("correlation", [0.5, 0.94])
@pytest.mark.parametrize("shuffled", [False, True])
def test_machines_are_found_once_and_by_name(rng, correlation, shuffled):
    """In file order neighbours depend on each other as well, but the machine is the cause."""
    for _ in range(5):
        table = machines(rng, 200, 50, correlation, shuffled=shuffled)
        assert names(screen(table)) == ["dependence within machine"]


def test_machines_in_file_order_are_found_without_their_column(rng):
    for _ in range(10):
        table = machines(rng, 200, 50, 0.5, shuffled=False)
        assert "serial dependence" in names(screen(table, columns=False))


def test_an_hourly_series_is_found_in_row_order_and_by_its_dates(rng):
    table = pd.DataFrame({"y": series(rng, 8760, 0.9), "p": 0.0, "when": pd.date_range("2024", periods=8760, freq="h")})
    assert names(screen(table)) == ["serial dependence"]
    (finding,) = screen(table.sample(frac=1.0, random_state=0))
    assert finding.column == "when"
    assert "in the order of when" in finding.seen


def test_drift_and_copies_are_found(rng):
    n = 10_000
    table = pd.DataFrame({"y": rng.standard_normal(n), "p": rng.standard_normal(n)})
    assert names(screen(table.assign(y=table["y"] * np.linspace(1.0, 4.0, n)), columns=False)) == ["drift"]
    copied = pd.concat([table, table.iloc[:500]], ignore_index=True).sample(frac=1.0, random_state=0)
    assert names(screen(copied, columns=False)) == ["duplicated rows"]
    # The same numbers in rows that differ in another column.
    assert screen(copied.assign(heat=rng.standard_normal(len(copied)))) == []
    # A copy with a number of its own is still a copy.
    assert names(screen(copied.assign(row=np.arange(len(copied))))) == ["duplicated rows"]


def test_declared_units_are_compared_with_each_other_alone(rng):
    table = machines(rng, 200, 50, 0.94, shuffled=False)
    assert screen(table, columns=False, draws=Units(table["machine"].to_numpy())) == []
    site = np.repeat([f"s{k}" for k in range(20)], 500)
    within = table.assign(site=site, y=table["y"] + 3.0 * rng.standard_normal(20)[np.arange(10_000) // 500])
    units = Units(within["machine"].to_numpy())
    assert "dependence within site" in names(screen(within.drop(columns="machine"), draws=units))


@pytest.mark.parametrize("within", ["all", 0.9, "one", "average"])
def test_units_of_every_kind_are_compared_by_one_score_each(rng, within):
    table = machines(rng, 300, 20, 0.9, shuffled=True)
    units = Units(table["machine"].to_numpy(), within)
    assert screen(table.drop(columns="machine"), draws=units) == []
    y, p = table["y"], table["p"]
    assert pacband.diagnose(y, p, X=table[["machine"]], draws=units, eps=0.1, delta=0.05).sound


def test_importance_known_as_an_interval_is_taken(rng):
    x = rng.random(4000)
    low, high = 1.9 * x, 2.0 * x
    draws = pacband.draws.Weighted((low, high), at_most=2.0)
    assert screen(pd.DataFrame({"y": x * rng.standard_normal(4000), "p": 0.0}), draws=draws) == []


def test_a_gap_that_is_too_small_is_found(rng):
    table = pd.DataFrame({"y": series(rng, 50_000, 0.9), "p": 0.0})
    assert names(screen(table, draws=Spaced(2))) == ["serial dependence"]
    assert screen(table, draws=Spaced(100)) == []


def test_groups_of_the_promise_are_compared_within(rng):
    group = rng.integers(0, 10, 5000)
    table = pd.DataFrame(
        {"y": np.exp(group) * rng.standard_normal(5000), "p": 0.0, "copy": np.char.add("g", group.astype(str))}
    )
    assert names(screen(table)) == ["dependence within copy"]
    assert screen(table, groups=group) == []


def test_a_table_sorted_by_its_target_is_not_in_the_order_of_draws(rng):
    table = pd.DataFrame({"y": np.sort(rng.standard_normal(3000)), "p": 0.0})
    assert screen(table, columns=False) == []
    assert is_sorted(np.array([3, 2, 2, 1]))
    assert not is_sorted(np.zeros(5))
    assert not is_sorted(np.array([1, 3, 2, 4]))


def test_the_same_rows_have_the_same_findings(rng):
    table = machines(rng, 200, 500, 0.3, shuffled=True)
    assert screen(table) == screen(table)


def test_own_scores_several_outputs_and_missing_predictions_are_taken(rng):
    noise = rng.standard_normal((3000, 2))
    assert pacband.certify(noise, np.zeros((3000, 2))).n_samples == 3000
    assert pacband.certify_scores(np.abs(noise[:, 0])).n_samples == 3000
    prediction = np.zeros(3000)
    prediction[5] = np.nan
    assert pacband.certify(noise[:, 0], prediction, nonfinite="violate").n_samples == 3000


def test_what_is_said_about_neighbours_is_true_of_all_rows(rng):
    from scipy.stats import spearmanr

    n = 30_000
    y = rng.standard_normal(n)
    for i in range(1, n):
        y[i] += 0.8 * y[i - 1]
    with pytest.warns(pacband.PromiseWarning) as caught:
        pacband.certify(y, np.zeros(n))
    # The screen looks at 2000 rows in runs of eight; its numbers are those of all rows.
    first = spearmanr(np.abs(y)[1:], np.abs(y)[:-1]).statistic
    said = str(caught[0].message)
    assert f"scores depend on the rows before: the rank correlation with the previous row is {first:.2f}." in said
    assert f"These {n} rows are worth about" in said
    (finding,) = (f for f in pacband.diagnose(y, np.zeros(n)).findings if f.check == "serial dependence")
    assert finding.seen in said
    assert finding.effect in said


def test_rows_with_gaps_say_nothing_about_neighbours(rng):
    y = np.repeat(rng.standard_normal(500), 4) + 0.1 * rng.standard_normal(2000)
    scoring = ScoreRule()
    findings = screen_rows(
        scoring,
        Rows().sample(2000),
        y,
        np.zeros(2000),
        spread_of(scoring, None, y.shape),
        numbers=np.arange(2000) * 7,
    )
    assert [f.check for f in findings] == ["serial dependence"]
    assert "previous row" not in findings[0].seen
    assert "worth fewer independent rows" in findings[0].effect


def test_a_series_must_be_in_the_order_of_its_times(rng):
    n = 2000
    table = pd.DataFrame({"y": rng.standard_normal(n), "p": rng.standard_normal(n)})
    table["time"] = pd.date_range("2024-01-01", periods=n, freq="h")
    shuffled = table.sample(frac=1.0, random_state=0)
    draws = Spaced(2)
    assert screen(table, draws=draws) == []
    (finding,) = screen(shuffled, draws=draws)
    assert finding.seen == "the rows are not in the order of time"
    assert "Sort the table by time" in finding.advice
    # Other dates need no order, if one column of times has it; and rows that are draws need none.
    assert screen(table.assign(built=shuffled["time"].to_numpy()), draws=draws) == []
    assert screen(shuffled) == []
    diagnosis = pacband.diagnose(shuffled["y"], shuffled["p"], X=shuffled[["time"]], draws=draws, eps=0.1, delta=0.01)
    assert "order of time" in names(diagnosis.findings)
    ordered = pacband.diagnose(table["y"], table["p"], X=table[["time"]], draws=draws, eps=0.1, delta=0.01)
    assert ordered.sound
    numbered = table[["time"]].assign(id=np.arange(n))
    assert pacband.diagnose(table["y"], table["p"], X=numbered, draws=draws, eps=0.1, delta=0.01).sound


def test_a_series_must_not_run_backwards_in_time(rng):
    n = 2000
    table = pd.DataFrame({"y": rng.standard_normal(n), "p": rng.standard_normal(n)})
    table["id"] = np.arange(n)
    table["time"] = pd.date_range("2024-01-01", periods=n, freq="h")
    reverse = table.iloc[::-1]
    draws = Spaced(2)
    days = reverse.assign(time=reverse["time"].dt.floor("D"))
    for frame in reverse, days, reverse.assign(time=reverse["time"].dt.strftime("%d.%m.%Y %H:%M")):
        (finding,) = screen(frame, draws=draws)
        assert (finding.code, finding.column) == ("PB005", "time")
        assert finding.seen == "the rows run backwards in time: the first row has the latest time"
    # Another column of times in no order hides nothing, and one that rises is the time of the series.
    mixed = reverse.assign(built=table["time"].sample(frac=1.0, random_state=0).to_numpy())
    assert "backwards" in screen(mixed[["y", "p", "built", "time"]], draws=draws)[0].seen
    assert screen(reverse.assign(read=table["time"].to_numpy()), draws=draws) == []
    # A number that falls is no time; and rows that are draws need no order.
    assert screen(reverse.drop(columns="time"), draws=draws) == []
    assert screen(reverse) == []
    diagnosis = pacband.diagnose(reverse["y"], reverse["p"], X=reverse[["time"]], draws=draws, eps=0.1, delta=0.01)
    assert "order of time" in names(diagnosis.findings)


def test_a_regressor_of_a_series_warns_of_rows_that_run_backwards(rng):
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    n = 2000
    rows = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=n, freq="h"), "x": rng.standard_normal(n)})
    y = rows["x"] + rng.standard_normal(n)
    model = make_pipeline(make_column_transformer(("passthrough", ["x"])), LinearRegression())
    regressor = pacband.CertifiedRegressor(model, eps=0.1, delta=0.01)
    regressor.fit(rows, y, draws=Spaced(2))
    with pytest.warns(pacband.PromiseWarning, match="PB005 the rows run backwards in time"):
        regressor.fit(rows.iloc[::-1], y.iloc[::-1], draws=Spaced(2))
