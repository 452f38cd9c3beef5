"""T(x) is a function of x: of the cells of a row, and not of the rows beside it, its table's library, or its file."""

import json
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

import pacband
from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput
from pacband.candidates.defaults import default_predictors, default_scales
from pacband.candidates.reader import TableReader
from pacband.candidates.views import scale_columns
from pacband.exceptions import UnknownCategories
from support.twins import put_in_place

PROMISE = {"eps": 0.05, "delta": 1e-3}
CODES = ["A", 1, 2.5, True, "007", "n/a", None, "1e+16", -0.0]


@pytest.fixture
def hasty(monkeypatch):
    """One fast predictor for the automatic family: these tests are about what it is given."""
    predictor = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    put_in_place(monkeypatch, default_predictors, lambda *_: {"tree": predictor})
    put_in_place(monkeypatch, default_scales, lambda *_: {})


def draw(rng, n, effect, kind=object):
    code = rng.choice(np.array(list(effect), dtype=object), n)
    x = rng.uniform(-1, 1, n)
    y = np.array([effect[c] for c in code]) + x + 0.1 * rng.standard_normal(n)
    return pd.DataFrame({"code": pd.Series(code, dtype=object).astype(kind), "x": x}), y


def outside(ends, y):
    ends = np.asarray(ends)
    return float(np.mean((y < ends[:, 0]) | (y > ends[:, 1])))


def family(X, y):
    return CertifiedFamily("auto", **PROMISE, time_budget=20, random_state=0, n_jobs=1).fit(X, y)


def shell_family(run, frame, name, *options):
    frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name, index=False)
    promise = ["--eps", PROMISE["eps"], "--delta", PROMISE["delta"], "--jobs", 1, "--time-budget", 20]
    done = run("fit", name, "--target", "y", *promise, *options, "-o", "model.pacband")
    assert done.returncode == 0, done.stderr


def shell_ends(run, name, model="model.pacband"):
    done = run("predict", model, name, "-o", "out.parquet")
    assert (done.returncode, done.stderr) == (0, "Saved out.parquet\n")
    return pd.read_parquet("out.parquet")[["lower", "upper"]].to_numpy()


# Of 400 rows more than 9 % are outside with a probability below 1e-3 · 1e-3 where the promise is kept: the certificate
# fails with δ, and at ε = 5 % as many violations come with 4e-4; the seeds are fixed.
MOST = 0.09


def test_a_mixed_column_is_predicted_alike_row_by_row_and_by_itself(rng, hasty):
    effect = {"A": 0.0, 1: 10.0, 2: -10.0, 3: 30.0}
    fam = family(*draw(rng, 1500, effect))
    X, y = draw(rng, 400, effect)
    whole = fam.predict_interval(X)
    assert outside(whole, y) <= MOST
    rows = np.vstack([fam.predict_interval(X.iloc[[i]]) for i in range(60)])
    np.testing.assert_array_equal(rows, whole[:60])
    coded = (X.code != "A").to_numpy()
    np.testing.assert_array_equal(fam.predict_interval(X[coded].infer_objects()), whole[coded])
    np.testing.assert_array_equal(fam.predict_interval(X.assign(code=X.code.astype(str))), whole)


def test_codes_that_were_doubles_at_fit_are_known_as_integers_and_texts(rng, hasty, run):
    effect = {1: 0.0, 2: 10.0, 3: -10.0}
    X, y = draw(rng, 1500, effect, float)
    X.loc[5, "code"] = np.nan
    shell_family(run, X.assign(y=y), "train.parquet", "--categories", "code")
    X, y = draw(rng, 400, effect)
    X.assign(code=X.code.astype(float)).to_parquet("doubles.parquet")
    expected = shell_ends(run, "doubles.parquet")
    assert outside(expected, y) <= MOST
    X.assign(code=X.code.astype(int)).to_parquet("integers.parquet")
    X.assign(code=X.code.astype(int)).to_csv("integers.csv", index=False)
    X.assign(code=X.code.astype(float)).to_csv("doubles.csv", index=False)
    X.assign(code=X.code.astype(str)).to_parquet("texts.parquet")
    for name in ("integers.parquet", "integers.csv", "doubles.csv", "texts.parquet"):
        np.testing.assert_array_equal(shell_ends(run, name), expected)


@pytest.mark.parametrize("options", [(), ("--categories", "code")], ids=["by itself", "as categories"])
def test_truths_are_the_same_in_csv_and_in_parquet(rng, hasty, run, options):
    effect = {True: 0.0, False: 10.0}
    X, y = draw(rng, 1500, effect)
    shell_family(run, X.assign(y=y), "train.csv", *options)
    X, y = draw(rng, 400, effect, bool)
    X.to_parquet("truths.parquet")
    expected = shell_ends(run, "truths.parquet")
    assert outside(expected, y) <= MOST
    X.to_csv("pandas.csv", index=False)
    pl.from_pandas(X).write_csv("polars.csv")
    for name in ("pandas.csv", "polars.csv"):
        np.testing.assert_array_equal(shell_ends(run, name), expected)


def test_a_model_saved_in_python_keeps_the_kinds_of_its_columns_at_the_shell(rng, hasty, run):
    effect = {"1": 0.0, "2": 10.0, "3": -10.0, "X": 30.0}
    fam = family(*draw(rng, 1500, effect, str))
    fam.save("model.pacband")
    X, y = draw(rng, 400, {code: effect[code] for code in "123"}, str)
    expected = fam.predict_interval(X)
    assert outside(expected, y) <= MOST
    X.to_csv("new.csv", index=False)
    np.testing.assert_array_equal(shell_ends(run, "new.csv"), expected)
    numbers = X.assign(code=X.code.astype(int))
    numbers.to_parquet("new.parquet")
    np.testing.assert_array_equal(shell_ends(run, "new.parquet"), expected)
    # Texts at fit, and numbers of any type in Python.
    for kind in (int, float, "Int64", "category", "float32"):
        np.testing.assert_array_equal(fam.predict_interval(numbers.assign(code=numbers.code.astype(kind))), expected)
    # Saved again, the kinds are still there.
    pacband.load("model.pacband").save("again.pacband")
    np.testing.assert_array_equal(shell_ends(run, "new.csv", "again.pacband"), expected)


def test_groups_of_a_fitted_model_are_known_in_every_spelling(rng, hasty, run):
    X, y = draw(rng, 1500, {1: 0.0, 2: 10.0}, float)
    shell_family(run, X.assign(y=y), "train.parquet", "--group", "code")
    X, _ = draw(rng, 100, {1: 0.0, 2: 10.0}, float)
    X.to_parquet("doubles.parquet")
    expected = shell_ends(run, "doubles.parquet")
    X.to_csv("doubles.csv", index=False)
    X.assign(code=X.code.astype(int)).to_csv("integers.csv", index=False)
    for name in ("doubles.csv", "integers.csv"):
        np.testing.assert_array_equal(shell_ends(run, name), expected)
    X.assign(code=1.4).to_csv("odd.csv", index=False)
    done = run("predict", "model.pacband", "odd.csv")
    assert done.returncode == 2
    assert "'1.4'" in done.stderr


cells = st.one_of(
    st.sampled_from(CODES),
    st.floats(allow_nan=True, allow_infinity=False),
    st.integers(-(2**62), 2**62),
    st.text(max_size=4).filter(lambda text: "\x00" not in text),
    st.booleans(),
    st.decimals(allow_infinity=False, allow_nan=False, places=3, min_value=-1000, max_value=1000),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(cells, min_size=3, max_size=12), st.lists(cells, min_size=1, max_size=12), st.randoms())
def test_the_matrix_of_a_table_does_not_depend_on_how_it_is_cut(fitted, new, random):
    reader = TableReader().fit(_objects([*fitted, "Z"], [*range(len(fitted)), 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategories)
        table = _objects(new, np.linspace(0, 1, len(new)))
        whole = reader.transform(table)
        order = list(range(len(new)))
        random.shuffle(order)
        same = np.testing.assert_array_equal
        same(reader.transform(table[order]), whole[order])
        same(np.vstack([reader.transform(table[[row]]) for row in order]), whole[order])
        same(reader.transform(pd.DataFrame(table)), whole)
        same(reader.transform(pd.DataFrame(table).infer_objects()), whole)
        same(reader.transform(table.tolist()), whole)


def _objects(codes, numbers):
    table = np.empty((len(codes), 2), dtype=object)
    table[:, 0] = codes
    table[:, 1] = numbers
    return table


def test_every_library_and_file_gives_the_same_matrix_to_the_last_bit(rng, tmp_path):
    from pacband.tables.batches import batches
    from pacband.tables.files import open_files
    from pacband.tables.survey import check_kinds, inputs_sql

    n = 300
    frame = pd.DataFrame(
        {
            "code": rng.choice(["1", "2.0", "007", "x", "True", "a,b", 'q"', "NA", ""], n),
            "level": rng.choice([1.0, 2.0, 1e16, 0.1, np.nan], n),
            "flag": rng.uniform(size=n) < 0.5,
            "x": np.where(rng.uniform(size=n) < 0.1, np.nan, rng.standard_normal(n)),
            "count": rng.integers(0, 9, n),
        }
    )
    kinds = {"code": "category", "level": "category", "flag": "number", "x": "number", "count": "number"}
    reader = TableReader().fit(frame, kinds=kinds)
    expected = reader.transform(frame)
    assert np.isnan(expected).sum(axis=0)[[0, 1, 3]].all()
    tables = {
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame),
        "objects": frame.to_numpy(dtype=object),
        "category": frame.astype({"code": "category", "level": "category"}),
        "nullable": frame.convert_dtypes(),
        "texts": frame.astype(str),
        "decimals": frame.assign(level=[None if v != v else Decimal(repr(v)) for v in frame.level]),
        "polars enum": pl.from_pandas(frame).with_columns(pl.col("code").cast(pl.Categorical)),
    }
    for name, table in tables.items():
        np.testing.assert_array_equal(reader.transform(table), expected, err_msg=name)
    frame.to_csv(tmp_path / "pandas.csv", index=False)
    frame.to_csv(tmp_path / "semicolons.csv", index=False, sep=";", na_rep="NA", quoting=2)
    frame.to_parquet(tmp_path / "pandas.parquet", index=False)
    pl.from_pandas(frame).write_csv(tmp_path / "polars.csv")
    pl.from_pandas(frame).write_parquet(tmp_path / "polars.parquet")
    duckdb.from_df(frame).write_csv(str(tmp_path / "duckdb.csv"), header=True)
    duckdb.from_df(frame.astype(str)).write_parquet(str(tmp_path / "texts.parquet"))
    for path in sorted(tmp_path.iterdir()):
        with open_files([path]) as found:
            relation = found.relation()
            for texts in (False, True):
                columns = inputs_sql(relation, check_kinds(relation, kinds), texts=texts)
                table = pd.concat(batches(relation, columns), ignore_index=True)
                np.testing.assert_array_equal(reader.transform(table), expected, err_msg=path.name)


def test_predictions_depend_on_the_row_alone_but_for_the_last_bits(rng):
    """The matrix is the same to the last bit; BLAS adds up a product of one row in another order than of many."""
    effect = {"A": 0.0, 1: 10.0, 2: -10.0, 3: 30.0}
    X, y = draw(rng, 300, effect)
    fam = CertifiedFamily("auto", eps=0.1, delta=0.05, time_budget=2, random_state=0, n_jobs=1).fit(X, y)
    X, _ = draw(rng, 40, effect)
    for name in fam.certificates_:
        whole = fam.predict_interval(X, candidate=name)
        rows = np.vstack([fam.predict_interval(X.iloc[[i]], candidate=name) for i in range(40)])
        np.testing.assert_allclose(rows, whole, rtol=1e-12, atol=1e-12)
        order = rng.permutation(40)
        np.testing.assert_allclose(
            fam.predict_interval(X.iloc[order], candidate=name), whole[order], rtol=1e-12, atol=1e-12
        )


def test_far_more_unknown_categories_than_in_the_fit_are_warned_of(rng, hasty, run):
    effect = {"red": 0.0, "green": 10.0, "blue": -10.0}
    X, y = draw(rng, 1500, effect, str)
    fam = family(X, y)
    fam.save("model.pacband")
    X, _ = draw(rng, 100, effect, str)
    fam.predict(X.assign(code=X.code.where(X.index > 0, "violet")))
    with pytest.warns(UnknownCategories, match=r"column 'code' .* in 100 of 100 rows, .* such as 'RED'|'GREEN'|'BLUE'"):
        fam.predict(X.assign(code=X.code.str.upper()))
    X.assign(code=X.code.str.upper()).to_csv("new.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = run("predict", "model.pacband", "new.csv", "-o", "out.csv")
    assert done.returncode == 0
    assert "Warning: column 'code' has categories that the model was not fitted on in 100 of 100 rows" in done.stderr


def test_unknown_categories_of_a_long_tail_are_no_surprise(rng):
    # A table of the fit's distribution is warned of with a probability below 1e-6.
    def codes(n):
        return np.array([f"c{k}" for k in np.minimum(rng.zipf(1.3, n), 10**6)], dtype=object)

    for n in (50, 500, 5000):
        reader = TableReader().fit(np.column_stack([codes(n), codes(n)]))
        for size in (1, 5, 100, 3000):
            matrix = reader.transform(np.column_stack([codes(size), codes(size)]))
        assert np.isnan(matrix).any()


def test_a_column_of_numbers_that_holds_texts_is_refused_with_its_rows(rng, hasty, run):
    X, y = draw(rng, 1500, {1: 0.0, 2: 10.0}, int)
    fam = family(X, y)
    fam.save("model.pacband")
    X, _ = draw(rng, 10, {1: 0.0, 2: 10.0}, int)
    bad = X.assign(x=X.x.astype(object).where(X.index != 3, "much"))
    with pytest.raises(
        InvalidInput, match=r"column 'x' held numbers in the fit, and now holds 'much' in 1 row, row 3 "
    ):
        fam.predict(bad)
    bad.to_csv("new.csv", index=False)
    done = run("predict", "model.pacband", "new.csv")
    assert done.returncode == 2
    assert "column 'x' must be numeric, got 'much'" in done.stderr
    with pytest.raises(InvalidInput, match="turn times into numbers"):
        fam.predict(X.assign(x=pd.Timestamp("2020-01-01")))
    np.testing.assert_array_equal(fam.predict(X.astype(str)), fam.predict(X))


def test_the_kind_of_a_column_comes_from_all_training_rows_and_no_calibration_row(rng, hasty):
    X, y = draw(rng, 1500, {1: 0.0, 2: 10.0})
    train, calibrate = family(X, y).split_indices(X, y)
    fam = family(X.assign(code=X.code.where(X.index != train[7], "A")), y)
    assert fam.column_kinds_ == {"code": "category", "x": "number"}
    fam.predict(pd.DataFrame({"code": ["A", 1], "x": [0.0, 0.0]}))
    odd = X.assign(code=X.code.where(X.index != calibrate[7], "A"))
    with pytest.raises(InvalidInput, match="column 'code' has only numbers in the training rows, and holds 'A' in a"):
        family(odd, y)
    assert family(odd.astype({"code": str}), y).column_kinds_["code"] == "category"


def own_model():
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["code"]), remainder="passthrough")
    return CertifiedRegressor(make_pipeline(encoder, Ridge(alpha=1e-3)), **PROMISE, random_state=0)


def test_a_pipeline_of_ones_own_sees_at_the_shell_what_it_saw_in_the_fit(rng, run):
    effect = {"1": 0.0, "2.0": 10.0, "007": -10.0, "X": 30.0}
    X, y = draw(rng, 1500, effect, str)
    X.loc[::50, "code"], y[::50] = np.nan, 50.0
    model = own_model().fit(X, y)
    model.save("model.pacband")
    assert model.column_kinds_ == {"code": "category", "x": "number"}
    X, y = draw(rng, 400, {code: effect[code] for code in ("1", "2.0", "007")}, str)
    X.loc[::50, "code"], y[::50] = np.nan, 50.0
    expected = model.predict_interval(X)
    assert outside(expected, y) <= MOST
    X.assign(y=y).to_csv("new.csv", index=False)
    X.to_parquet("new.parquet")
    for name in ("new.csv", "new.parquet"):
        np.testing.assert_allclose(shell_ends(run, name), expected, rtol=1e-12)
    done = run("check", "model.pacband", "new.csv", "--target", "y", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"][0]["violations"] == round(400 * outside(expected, y))
    # Which text the fit had for the number 2, no file can tell.
    X[(X.code != "007") & X.code.notna()].assign(code=lambda X: X.code.astype(float)).to_parquet("numbers.parquet")
    done = run("predict", "model.pacband", "numbers.parquet")
    assert done.returncode == 2
    assert "column 'code' held texts in the fit, and holds DOUBLE now" in done.stderr


@pytest.mark.parametrize(("codes", "kind"), [((1, 2), "category"), (("A", "NA"), object), (("A", None), object)])
def test_what_no_file_can_tell_is_refused(rng, run, codes, kind):
    X, y = draw(rng, 1500, dict(zip(codes, (0.0, 10.0), strict=True)), kind)
    own_model().fit(X, y).save("model.pacband")
    X.to_csv("new.csv", index=False)
    done = run("predict", "model.pacband", "new.csv")
    assert done.returncode == 2
    assert "does not state whether column 'code' holds numbers or texts" in done.stderr


def test_targets_that_floats_cannot_tell_apart_are_refused_by_fit(rng, run):
    frame = pd.DataFrame({"x": rng.standard_normal(500), "y": 2**60 + rng.integers(0, 9, 500)})
    frame.to_csv("train.csv", index=False)
    frame.to_parquet("train.parquet")
    duckdb.sql("copy (select x, y::decimal(30, 0) as y from 'train.parquet') to 'wide.parquet'")
    duckdb.sql("copy (select x, y::decimal(30, 2) as y from 'train.parquet') to 'digits.parquet'")
    duckdb.sql("copy (select x, y::varchar as y from 'train.parquet') to 'texts.parquet'")
    for name in ("train.csv", "train.parquet", "wide.parquet", "digits.parquet", "texts.parquet"):
        done = run("fit", name, "--target", "y", "-o", "model.pacband")
        assert done.returncode == 2
        assert "column 'y' has integers beyond 2**53" in done.stderr


def seeds(model, path="model"):
    """Yield every random_state within a model."""
    for name, value in (model.get_params(deep=True) if isinstance(model, BaseEstimator) else {}).items():
        if name.split("__")[-1] == "random_state":
            yield f"{path}.{name}", value


def test_every_part_of_the_automatic_family_has_a_seed(rng):
    X = np.column_stack([rng.standard_normal((100, 2)), rng.integers(0, 3, 100)])
    reader = TableReader().fit(np.array([["a", 1.0], ["b", 2.0]], dtype=object))
    predictors = default_predictors(reader, X, np.exp(3 * X[:, 0]), 7, 1)
    scales = default_scales(reader, 3, 100, 0.9, 7, 1)
    found = [pair for name, model in predictors.items() for pair in seeds(model, name)]
    found += [pair for name, scale in scales.items() for pair in seeds(scale.model, name)]
    assert len(found) >= 10
    assert {name: value for name, value in found if value is None} == {}


def test_ranks_of_many_rows_follow_from_the_seed(rng):
    X = rng.standard_normal((30_000, 1))
    first, second, other = (scale_columns((), 1, n_quantiles=50, seed=seed).fit_transform(X) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()
