"""Tables are judged by the draws of the certificate: by its column of units, or the one that is named."""

import duckdb
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedRegressor, InvalidInput
from pacband.draws import Spaced, Units, Weighted
from pacband.tables import model_rows
from pacband.tables.certified_draws import bound_draws, table_draws
from pacband.tables.files import open_files
from pacband.tables.model_checking import check_model
from pacband.tables.model_rows import ModelTable
from support.units import machines

ENGINES = {
    "pandas": lambda frame: frame,
    "duckdb": duckdb.from_df,
    "polars": lambda frame: pl.from_pandas(frame).lazy(),
}


@pytest.fixture
def frame(rng):
    error, unit = machines(rng, 200, 5, 0.5)
    return pd.DataFrame({"y": error, "p": 0.0, "machine": [f"m{k}" for k in unit], "w": rng.uniform(0, 2, 1000)})


DRAWS = {
    "all": (Units("machine"), lambda f: Units(f["machine"])),
    "share": (Units("machine", 0.8), lambda f: Units(f["machine"], 0.8)),
    "spaced": (Spaced(5), lambda f: None),
    "weighted": (Weighted("w", at_most=2.0), lambda f: None),
}


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(("named", "given"), DRAWS.values(), ids=DRAWS)
def test_a_table_is_judged_as_arrays_are(engine, named, given, frame):
    cert = pacband.certify_frame(frame, target="y", prediction="p", eps=0.2, delta=0.1, draws=named)
    fresh = frame.assign(y=1.3 * frame["y"])
    expected = pacband.check(cert, fresh["y"], fresh["p"], draws=given(fresh))
    assert pacband.check_frame(cert, engine(fresh)) == expected
    if isinstance(named, Weighted):
        weighed = pacband.check_frame(cert, engine(frame), draws=named)
        assert weighed.reused
    if isinstance(named, Units):
        renamed = engine(fresh.rename(columns={"machine": "unit"}))
        assert pacband.check_frame(cert, renamed, draws=Units("unit", named.kind.within)) == expected
        with pytest.raises(InvalidInput, match="there is no column 'machine'"):
            pacband.check_frame(cert, renamed)


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_columns_that_the_certificate_has_no_use_for_are_refused(frame):
    basis = pacband.certify(frame["y"], frame["p"], eps=0.2, delta=0.1).basis
    assert table_draws(basis) is None
    assert bound_draws(None, {}) is None
    with pytest.raises(InvalidInput, match="column of units 'machine' was named, but"):
        table_draws(basis, unit="machine")
    with pytest.raises(InvalidInput, match="column of weights 'w' was named, but"):
        table_draws(basis, importance="w")


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
@pytest.mark.parametrize("draws", [Units("machine"), Spaced(7)], ids=["units", "spaced"])
def test_a_model_is_judged_by_draws_although_its_rows_come_in_pieces(draws, tmp_path, monkeypatch, rng):
    error, unit = machines(rng, 300, 5, 0.5)
    rows = pd.DataFrame({"machine": unit, "x": rng.standard_normal(1500)})
    y = rows["x"] + error
    used = rows if draws.column else rows[["x"]]
    model = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0, draws=draws).fit(used, y)
    error, unit = machines(rng, 200, 5, 0.5)
    fresh = pd.DataFrame({"machine": unit + 300, "x": rng.standard_normal(1000)}).assign(
        y=lambda f: f["x"] + 1.3 * error
    )
    fresh = fresh.iloc[rng.permutation(1000)] if draws.column else fresh
    fresh.to_parquet(tmp_path / "fresh.parquet")
    whole = model_rows.batches

    def small(relation, columns):
        for table in whole(relation, columns):
            for start in range(0, len(table), 64):
                yield table.iloc[start : start + 64]

    monkeypatch.setattr(model_rows, "batches", small)
    units = Units(fresh["machine"]) if draws.column else None
    expected = pacband.check(model.certificate_, fresh["y"], model.predict(fresh[["x"]]), draws=units)
    with open_files([tmp_path / "fresh.parquet"]) as files:
        found = check_model(ModelTable.of(model, files.relation(["y"]), target=["y"]))
    assert found == expected
    assert expected.counts[""].n_samples == (200 if draws.column else 142)
