"""Reports and diagnoses of large tables: counted in the engine, to the last row; drawn from a sample that is named."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.diagnostics.tables import diagnose_table
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.reporting.tables import report_table
from pacband.scores import scores_of
from pacband.tables import sample
from pacband.tables.columns import columns_of, read_predicted, read_values
from pacband.tables.files import open_files
from support.pages import Outline
from support.twins import use_number

N = 12_000


@pytest.fixture
def small_samples(monkeypatch):
    """Tables of more than 4,000 rows are large, and 3,000 rows are drawn."""
    use_number(monkeypatch, sample, "WHOLE", 4000)
    use_number(monkeypatch, sample, "SAMPLE", 3000)


@pytest.fixture
def frame(rng):
    table = pd.DataFrame({"load": rng.random(N), "site": rng.choice(["a", "b", "c"], N)})
    table["p"] = 3 * table["load"]
    table["q"] = table["p"] + 0.1
    table["s"] = 0.5 + table["load"]
    table["y"] = table["p"] + table["s"] * rng.standard_normal(N)
    return table


def relation(frame, threads=2):
    connection = duckdb.connect(config={"threads": threads})
    connection.register("frame", frame)
    connection.execute("create table rows as select * from frame")
    return connection.table("rows")


def numbers(report):
    """The numbers of a report but for what differs from run to run."""
    return {name: value for name, value in report.to_dict().items() if name not in ("created", "command")}


COLUMNS = columns_of("y", "p", "s")
PROMISE = {"eps": 0.1, "delta": 1e-3}


def certificates(frame):
    y, p, s = (frame[name].to_numpy() for name in "yps")
    q = frame["q"].to_numpy()
    return {
        "single": (pacband.certify(y, p, s, **PROMISE), COLUMNS),
        "upper": (pacband.certify(y - 1e6, p, s, side="upper", **PROMISE), COLUMNS),
        "pair": (pacband.certify(y, p, (s, 2 * s), **PROMISE), columns_of("y", "p", ("s", "s2"))),
        "outputs": (
            pacband.certify(np.column_stack([y, q]), np.column_stack([p, p]), **PROMISE),
            columns_of(["y", "q"], ["p", "p"], None),
        ),
        "family": (pacband.certify_family(y, {"a": (p, s), "b": (q, s)}, **PROMISE), COLUMNS),
        "groups": (
            pacband.certify_groups(y, p, frame["site"], s, **PROMISE),
            columns_of("y", "p", "s", "site"),
        ),
        "eps of 0.9": (pacband.certify(y, p, s, eps=0.9, delta=0.1), COLUMNS),
    }


KINDS = ["single", "upper", "pair", "outputs", "family", "groups", "eps of 0.9"]


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_counts_and_verdict_of_a_large_table_are_those_of_all_rows(frame, small_samples, monkeypatch, kind, fresh):
    frame = frame.assign(s2=2 * frame["s"])
    cert, columns = certificates(frame)[kind]
    if kind == "upper":
        frame["y"] -= 1e6
    if fresh:
        frame["y"] = frame["p"] + 1.3 * (frame["y"] - frame["p"])
    found = numbers(report_table(cert, relation(frame), columns))
    use_number(monkeypatch, sample, "WHOLE", N)
    use_number(monkeypatch, sample, "SAMPLE", N)
    whole = numbers(report_table(cert, relation(frame), columns))
    assert found["verdict"] == whole["verdict"]
    for name in ("n_rows", "n_violations", "calibration", "fingerprint_agrees"):
        assert found["rows"][name] == whole["rows"][name]
    assert whole["rows"]["n_drawn"] == whole["rows"]["n_rows"] == N
    assert found["rows"]["calibration"] is not fresh
    assert 2700 < found["rows"]["n_drawn"] < 3300
    assert found["rows"]["figures_show"] == f"{found['rows']['n_drawn']:,} of 12,000 rows, drawn with seed 0"
    assert found["scores"]["n_rows"] == found["rows"]["n_drawn"]
    assert whole["rows"]["figures_show"] is None
    # Slices count the rows that were drawn, and no others.
    for slicing in found["slices"]:
        assert sum(part["n_rows"] for part in slicing["slices"]) == found["rows"]["n_drawn"]
    if fresh or kind == "groups":
        assert found["curve"] is None
        return
    # Bounds of other ε are rounded up, and by less than 0.01 % of the range of the scores; γ̄ is the certificate's.
    assert found["bounds_rounded_up"]
    assert not whole["bounds_rounded_up"]
    scores = scores_of(cert.basis.scoring, read_values(frame, columns.target), *read_predicted(frame, columns))
    fine = 1e-4 * (scores.max() - scores.min())
    assert found["curve"]["ranks"] == whole["curve"]["ranks"]
    pairs = list(zip(found["curve"]["gammas"], whole["curve"]["gammas"], strict=True))
    pairs += [
        (one["gamma"], two["gamma"]) for one, two in zip(found["alternatives"], whole["alternatives"], strict=True)
    ]
    pairs += [
        (one["bound"], two["bound"]) for one, two in zip(found["sample_sizes"], whole["sample_sizes"], strict=True)
    ]
    known = [(here, there) for here, there in pairs if there is not None]
    assert all(there <= here <= there + fine for here, there in known)
    mine = [each["gamma"] for each in found["alternatives"] if (each["eps"], each["delta"]) == (cert.eps, cert.delta)]
    assert mine == [next(iter(cert.parts.values())).gamma]


def test_calibration_rows_in_an_engine_are_recognised_when_rounded_otherwise(frame, small_samples):
    for kind in ("single", "groups"):
        cert, columns = certificates(frame)[kind]
        again = frame.assign(p=frame["p"] * (1 + 1e-12))
        found = report_table(cert, relation(again), columns).to_dict()
        assert (found["rows"]["calibration"], found["rows"]["fingerprint_agrees"]) == (True, False)
        assert found["verdict"]["state"] == "recomputed"
    # Errors in round numbers have the same γ̄ by chance: that is no sign.
    coarse = frame.assign(p=0.0, y=np.random.default_rng(7).permutation(N) % 7)
    cert = pacband.certify(coarse["y"], coarse["p"], **PROMISE)
    other = coarse.assign(y=np.where(coarse["y"] == 3, 2, coarse["y"]))
    assert not report_table(cert, relation(other), columns_of("y", "p", None)).to_dict()["rows"]["calibration"]
    assert report_table(cert, relation(coarse), columns_of("y", "p", None)).to_dict()["rows"]["calibration"]


def test_a_bound_that_is_not_that_of_its_rows_is_not_confirmed(frame, small_samples):
    """The fingerprint of the scores agrees; the bound was changed."""
    cert, columns = certificates(frame)["single"]
    for factor in (1 - 1e-6, 1 + 1e-6):
        changed = replace(cert, gamma=cert.gamma * factor)
        for rows in (frame, pd.concat([frame[6000:], frame[:6000]])):
            found = report_table(changed, relation(rows), columns).to_dict()["rows"]
            assert (found["calibration"], found["fingerprint_agrees"]) == (False, False)
        in_memory = pacband.report(changed, frame["y"], frame["p"], frame["s"]).to_dict()["rows"]
        assert (in_memory["calibration"], in_memory["fingerprint_agrees"]) == (False, False)


def test_the_same_rows_are_drawn_in_arrays_and_in_files_whatever_the_number_of_threads(frame, small_samples, tmp_path):
    cert, _ = certificates(frame)["single"]
    expected = pacband.report(cert, frame["y"], frame["p"], frame["s"], X=frame[["load"]]).to_dict()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    duckdb.sql(f"copy (select * from frame) to '{tmp_path}/rows.parquet' (row_group_size 2048)")
    for name in ("rows.csv", "rows.parquet"):
        for threads in (1, 4):
            with open_files([tmp_path / name]) as files:
                table = files.relation(COLUMNS.numeric, threads=threads)
                found = report_table(cert, table, COLUMNS, features=["load"]).to_dict()
            for part in ("rows", "band", "widths", "scale", "slices", "verdict"):
                assert found[part] == expected[part], (name, threads, part)
            # Copies are looked for among the first rows of arrays, and among rows that agree in a file.
            assert {check: rows for check, rows in found["diagnosis"]["rows_used"].items() if "dup" not in check} == {
                check: rows for check, rows in expected["diagnosis"]["rows_used"].items() if "dup" not in check
            }
            assert found["diagnosis"]["p_values"] == expected["diagnosis"]["p_values"]


def test_the_page_and_the_markdown_name_the_sample(frame, small_samples):
    cert, columns = certificates(frame)["single"]
    page = report_table(cert, relation(frame), columns)
    n_drawn = page.summary.rows.n_drawn
    words = f"{n_drawn:,} of 12,000 rows, drawn with seed 0"
    captions = [text.split("</figcaption>")[0] for text in page.html.split("<figcaption>")[1:]]
    shown = [caption for caption in captions if f"The figure shows {words}." in caption]
    # Band, widths, scores, scale and the slices by load, site, q and prediction; not plan, violation and curve.
    assert len(shown) == 8
    assert len(captions) == 11
    assert f"Figures show {words}." in page.html
    assert f"Slices are of {words}." in page.to_markdown()
    assert "the first 3,000 rows for serial dependence; " in page.html
    assert "1 class in 4 by a hash of all columns but the target, for duplicated rows" in page.html
    assert f"{n_drawn:,} rows drawn with seed 0 for drift" in page.to_markdown()
    assert "rounded up, by less than 0.01 % of the range of the scores" in "".join(Outline(page.html).text)
    small = report_table(*(certificates(frame[:2000])["single"][0], relation(frame[:2000])), columns)
    for text in (small.html, small.to_markdown()):
        assert "with seed" not in text
        assert "rounded up" not in text
        assert "Not all rows" not in text
    assert small.to_dict()["diagnosis"]["rows_used"] == {}


def test_of_many_features_the_first_hundred_are_read_and_this_is_said(rng, monkeypatch):
    wide = pd.DataFrame(rng.standard_normal((300, 130)), columns=[f"x{j}" for j in range(130)]).assign(p=0.0)
    wide["y"] = wide["x120"]
    cert = pacband.certify(wide["y"], wide["p"], eps=0.1, delta=0.1)
    columns = columns_of("y", "p", None)
    page = report_table(cert, relation(wide), columns)
    assert list(page.summary.rows.features) == [f"x{j}" for j in range(100)]
    for text in (page.html, page.to_markdown()):
        assert "Of 130 features, the first 100 were looked at." in text
    assert (page.to_dict()["rows"]["n_features"], page.to_dict()["rows"]["n_features_used"]) == (130, 100)
    named = report_table(cert, relation(wide), columns, features=["x120", "x3"])
    assert list(named.summary.rows.features) == ["x120", "x3"]
    assert "features, the first" not in named.html
    arrays = pacband.report(cert, wide["y"], wide["p"], X=wide.drop(columns=["y", "p"]))
    assert "Of 130 features, the first 100 were looked at." in arrays.html


def test_infinite_scores_and_ties_are_summarised(frame, small_samples):
    frame.loc[:4, "p"] = np.nan
    cert = pacband.certify(frame["y"], frame["p"], frame["s"], nonfinite="violate", **PROMISE)
    found = report_table(cert, relation(frame), COLUMNS).to_dict()
    assert found["verdict"]["state"] == "recomputed"
    assert found["rows"]["n_violations"] == cert.rank - 1
    json.dumps(found, allow_nan=False)
    zero = frame.assign(y=0.0, p=0.0)
    cert = pacband.certify(zero["y"], zero["p"], **PROMISE)
    found = report_table(cert, relation(zero), columns_of("y", "p", None))
    assert set(found.to_dict()["curve"]["gammas"]) == {0.0}
    assert found.html


def test_what_is_refused_of_small_tables_is_refused_of_large_ones(frame, small_samples):
    cert, columns = certificates(frame)["single"]
    hole = frame.copy()
    # A row that is not drawn: the counts look at every row.
    unseen = int(np.setdiff1d(np.arange(3000, N), sample.draw_rows(N))[0])
    hole.loc[unseen, "y"] = np.nan
    with pytest.raises(InvalidInput, match=f"column 'y' must be finite.* in 1 row, row {unseen} "):
        report_table(cert, relation(hole), columns)
    with pytest.raises(InvalidInput, match=f"column 'y' must be finite.* in 1 row, row {unseen} "):
        diagnose_table(relation(hole), columns)
    with pytest.raises(InvalidScale, match="calibrated with a scale"):
        report_table(cert, relation(frame), columns_of("y", "p", None))
    with pytest.raises(InvalidInput, match="there is no column 'yy'"):
        report_table(cert, relation(frame), columns_of("yy", "p", "s"))
    groups, columns = certificates(frame[frame["site"] != "c"])["groups"]
    with pytest.raises(InvalidInput, match=r"labels without a certificate: 'c'\. Certified are 'a', 'b'"):
        report_table(groups, relation(frame), columns)
    with pytest.raises(InvalidInput, match="promises within groups: name the group column"):
        report_table(groups, relation(frame), COLUMNS)


def found_in(diagnosis):
    return [finding.check for finding in diagnosis.findings]


def test_a_large_table_is_diagnosed_from_rows_that_are_named(frame, small_samples, rng):
    sound = diagnose_table(relation(frame), COLUMNS, inputs=["load", "site"])
    assert sound.findings == ()
    assert sound.n_rows == N
    used = set(sound.rows_used.values())
    assert "the first 3,000 rows" in used
    assert len(used) == 3
    assert sound.rows_used["serial dependence"] in {"the first 3,000 rows", sound.rows_used["drift"]}
    assert sound.rows_used["duplicated rows"].endswith(" rows, 1 class in 4 by a hash of all columns but the target,")
    assert set(sound.rows_used) == set(sound.p_values)
    assert json.loads(json.dumps(sound.to_dict()))["rows_used"] == dict(sound.rows_used)
    late = frame.copy()
    late.loc[9000:, "y"] += 2.0
    (drift,) = diagnose_table(relation(late), COLUMNS).findings
    assert drift.check == "drift"
    assert abs(int(drift.seen.split("row ")[1].split(",")[0]) - 9000) < 600
    noise = rng.standard_normal(N)
    for i in range(1, N):
        noise[i] = 0.5 * noise[i - 1] + np.sqrt(0.75) * noise[i]
    dependent = frame.assign(y=frame["p"] + noise)
    assert "serial dependence" in found_in(diagnose_table(relation(dependent), columns_of("y", "p", None)))
    # A hundred copies far away from their originals.
    twice = pd.concat([frame, frame[4000:4100]], ignore_index=True)
    assert found_in(diagnose_table(relation(twice), COLUMNS, inputs=["load"])) == ["duplicated rows"]
    # Where all rows agree in the prediction there are no classes, and the first rows are looked at.
    for value in range(8):
        constant = diagnose_table(relation(frame[["y"]].assign(p=float(value))), columns_of("y", "p", None))
        assert constant.rows_used["duplicated rows"] == "the first 3,000 rows"
    fitted = relation(frame[:600])
    assert found_in(diagnose_table(relation(frame), COLUMNS, inputs=["load"], training=fitted)) == [
        "overlap with training"
    ]


@pytest.mark.verify
def test_sound_large_tables_raise_findings_at_most_at_the_stated_level(monkeypatch, rng):
    """At level .05 over 200 tables with exponential tails: more findings than this have a probability below 1e-6."""
    from scipy.stats import binom

    use_number(monkeypatch, sample, "WHOLE", 600)
    use_number(monkeypatch, sample, "SAMPLE", 300)
    alarms = 0
    for _ in range(200):
        table = pd.DataFrame({"p": rng.standard_normal(900), "s": np.exp(0.5 * rng.standard_normal(900))})
        table["y"] = table["p"] + table["s"] * rng.laplace(size=900)
        alarms += bool(diagnose_table(relation(table, threads=1), COLUMNS, level=0.05).findings)
    assert alarms <= binom.ppf(1 - 1e-6, 200, 0.05)
