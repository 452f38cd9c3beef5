"""Forged model files, with every digest right: none can say what an attack would have to say."""

import json
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from io import BytesIO

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVR, NuSVR

import pacband
from pacband import CertificateError, CertifiedFamily, CertifiedRegressor, scale
from pacband.core.documents import document_bytes
from pacband.estimators.parts import certificates_of, kind_of, take_apart
from pacband.models import load_certificate
from pacband.models.archive import Archive, _zip, write_archive
from pacband.models.content import write_content
from pacband.models.trust import Trust, UntrustedTypes
from pacband.models.versions import versions
from support.forge import Forged, holding
from support.gallery import CODES, GAPS, PLAIN, SPARSE, Y, fitted, hist

PROMISE = {"eps": 0.1, "delta": 0.1, "random_state": 0}


@pytest.fixture
def forge(tmp_path):
    """Return a function that takes apart the file of a model."""
    return lambda model: Forged(holding(model, tmp_path / "model.pacband").read_bytes())


@pytest.fixture
def refused(tmp_path):
    """Return a function that sees a forged file refused, with what is said of it."""

    def check(forged, said, **changes):
        path = tmp_path / "forged.pacband"
        path.write_bytes(forged if isinstance(forged, bytes) else forged.data(**changes))
        with pytest.raises(CertificateError, match=said) as caught:
            pacband.load(path)
        assert str(caught.value).isprintable()

    return check


def state(forged, kind, name):
    (entry,) = forged.objects(kind)[-1:]
    return entry["state"][name]


# An object whose attribute makes numpy read or write at an address of the file's choice.
ADDRESS = ["dict", ["data", ["tuple", 4096, False]], ["shape", ["tuple"]], ["typestr", "<f8"], ["version", 3]]


def test_no_attribute_can_make_numpy_read_at_an_address(forge, refused):
    forged = forge(make_pipeline(StandardScaler(), LinearRegression()).fit(PLAIN, Y))
    scaler, linear = forged.objects("sklearn.StandardScaler")[0], forged.objects("sklearn.LinearRegression")[-1]
    linear["state"]["intercept_"] = ["object", forged.document["objects"].index(scaler)]
    refused(forged, "intercept_ of a sklearn.LinearRegression does not match its declaration")
    scaler["state"]["__array_interface__"] = ADDRESS
    refused(forged, "a sklearn.StandardScaler has an attribute that is not declared")


def test_no_mapping_with_attributes_can_be_said(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    linear = forged.objects("sklearn.LinearRegression")[-1]
    for node, said in (
        (["bunch", ["__array_interface__", ADDRESS]], "a value has an unknown type"),
        ({"__array_interface__": ADDRESS}, "neither plain nor a list"),
        (
            ["dict", ["__array_interface__", ADDRESS]],
            "intercept_ of a sklearn.LinearRegression does not match its declaration",
        ),
    ):
        linear["state"]["intercept_"] = node
        refused(forged, said)


@pytest.mark.parametrize("name", ["_loss", "_raw_predict_init", "predict", "__class__", "_validate_X_predict"])
def test_no_loss_or_method_can_be_said(name, forge, refused):
    forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
    for node in (["function", "numpy.exp"], ["dict", ["link", ["function", "numpy.exp"]]], None):
        forged.objects("sklearn.GradientBoostingRegressor")[-1]["state"][name] = node
        refused(forged, "a sklearn.GradientBoostingRegressor has an attribute that is not declared")


def test_no_partial_can_be_said(forge, refused):
    forged = forge(make_pipeline(FunctionTransformer(np.exp), Ridge()).fit(PLAIN, Y))
    entry = forged.objects("sklearn.FunctionTransformer")[-1]
    for node in (["partial", "numpy.add"], ["function", "numpy.add"], ["function", "os.system"], ["function", 3]):
        entry["parameters"]["func"] = node
        refused(forged, "a value has an unknown type|a name is not on the list of allowed names")
    entry["parameters"]["func"] = ["function", "numpy.exp"]
    entry["parameters"]["kw_args"] = ["dict", ["out", forged.add(np.zeros((60, 3)))]]
    refused(forged, "passes its function more than rows")


def test_a_spline_is_made_of_what_was_checked(forge, refused):
    made = make_pipeline(SplineTransformer(4), Ridge()).fit(PLAIN, Y)
    kind = "sklearn.SplineTransformer"
    for name in ("_asarray", "_t", "bsplines_"):
        forged = forge(made)
        forged.objects(kind)[-1]["state"][name] = ["function", "numpy.exp"]
        refused(forged, "a sklearn.SplineTransformer has an attribute that is not declared")
    for part, values in (
        (0, np.zeros(4)),
        (1, np.zeros((2, 2))),
        (0, np.full(10, np.nan)),
        (1, np.zeros((6, 6), "f4")),
    ):
        forged = forge(made)
        forged.array(state(forged, kind, "splines")[1][1 + part], values)
        refused(forged, "a spline has knots|splines of a sklearn.SplineTransformer")
    forged = forge(made)
    state(forged, kind, "splines")[1][3] = 1000
    refused(forged, "a spline has knots or coefficients that do not fit its degree")


@pytest.mark.parametrize("kind", ["c16", "O", "V8", "M8", "f16", "U3", "S1", ">f8", "masked", "f8,f8"])
def test_arrays_are_plain(kind, forge, refused):
    forged = forge(SVR().fit(PLAIN, Y))
    forged.document["arrays"][0][0] = kind
    refused(forged, "an array has an unknown type")
    forged = forge(SVR().fit(PLAIN, Y))
    for node in (["masked", 0], ["array", 0, 1], ["array", -1], ["array", 10**6], ["array", 0.0], ["array", True]):
        forged.objects("sklearn.SVR")[-1]["state"]["support_"] = node
        refused(forged, "a value has an unknown type|a reference does not point to an earlier entry")


def test_arrays_have_memory_of_their_own(forge, tmp_path):
    forged = forge(SVR().fit(PLAIN, Y))
    (tmp_path / "forged.pacband").write_bytes(forged.data(compressed=False))
    model = pacband.load(tmp_path / "forged.pacband").estimator_
    for array in (model.support_, model.support_vectors_, model._dual_coef_):
        assert type(array) is np.ndarray
        assert array.flags.owndata
        assert array.flags.c_contiguous
        assert array.flags.writeable


FORESTS = {
    "sklearn.ExtraTreesRegressor": lambda: ExtraTreesRegressor(2, random_state=0).fit(PLAIN, Y),
    "sklearn.DecisionTreeRegressor": lambda: fitted("DecisionTreeRegressor"),
    "sklearn.GradientBoostingRegressor": lambda: GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y),
}


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("left_child", 10**6, "a child in a tree does not come after its parent"),
        ("left_child", 0, "a child in a tree does not come after its parent"),
        ("left_child", -5, "a child in a tree does not come after its parent"),
        ("right_child", 1, "a node of a tree does not have exactly one parent"),
        ("feature", 3, "a tree uses a feature that is not a column"),
        ("feature", -2, "a tree uses a feature that is not a column"),
    ],
)
def test_positions_in_trees_are_checked(kind, field, value, said, forge, refused):
    forged = forge(FORESTS[kind]())
    nodes = dict(map(tuple, state(forged, kind, "nodes")[1:]))
    values = forged.array(nodes[field])
    values[0] = value
    forged.array(nodes[field], values)
    refused(forged, said)


@pytest.mark.parametrize("kind", FORESTS)
def test_trees_have_as_many_values_as_nodes(kind, forge, refused):
    for shape in ((-1, 1, 0), (-1, 0, 1), (-1, 2, 1), (-1,)):
        forged = forge(FORESTS[kind]())
        node = state(forged, kind, "values")
        size = len(forged.array(node))
        forged.array(node, np.zeros([size if k == -1 else k for k in shape]))
        refused(
            forged,
            f"values of a {kind} does not match its declaration|do not match their nodes and outputs|nodes of a {kind}",
        )
    forged = forge(FORESTS[kind]())
    node = state(forged, kind, "counts")
    forged.array(node, forged.array(node) + 1)
    refused(forged, "the stated numbers of nodes do not match the nodes of the trees")
    forged = forge(FORESTS[kind]())
    forged.objects(kind)[-1]["state"]["n_classes_"] = 0
    refused(forged, "has an attribute that is not declared")
    forged = forge(FORESTS[kind]())
    forged.objects(kind)[-1]["state"]["n_features_in_"] = 1
    refused(forged, "a tree uses a feature that is not a column")


def test_boosting_starts_from_a_constant(forge, refused):
    kind = "sklearn.GradientBoostingRegressor"
    for name, node in (("init_", "zero"), ("n_trees_per_iteration_", 2), ("n_outputs_", 2), ("init_", None)):
        forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
        forged.objects(kind)[-1]["state"][name] = node
        refused(
            forged, "does not start from a constant|does not match its declaration|do not match their nodes and outputs"
        )
    forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
    forged.array(forged.objects("sklearn.DummyRegressor")[-1]["state"]["constant_"], np.zeros((1, 0)))
    refused(forged, "different numbers of outputs and constants")
    forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
    dummy = forged.objects("sklearn.DummyRegressor")[-1]["state"]
    forged.array(dummy["constant_"], np.zeros((1, 2)))
    dummy["n_outputs_"] = 2
    refused(forged, "does not start from a constant")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("left", 10**6, "a child in a tree does not come after its parent"),
        ("right", 0, "a child in a tree does not come after its parent"),
        ("feature_idx", -1, "a tree uses a feature that is not a column"),
        ("feature_idx", 3, "a tree uses a feature that is not a column"),
        ("is_categorical", 1, "a tree uses a column of numbers as categories"),
        ("is_leaf", 2, "a boolean in a tree is neither 0 nor 1"),
    ],
)
def test_positions_in_histogram_boosting_are_checked(field, value, said, forge, refused):
    kind = "sklearn.HistGradientBoostingRegressor"
    forged = forge(hist().fit(GAPS, Y))
    nodes = dict(map(tuple, state(forged, kind, "nodes")[1:]))
    values = forged.array(nodes[field])
    values[0] = value
    forged.array(nodes[field], values)
    refused(forged, said)


def test_categories_in_histogram_boosting_are_checked(forge, refused):
    kind = "sklearn.HistGradientBoostingRegressor"
    made = hist(categorical_features=[0, 2]).fit(CODES, 3.0 * (CODES[:, 0] % 2) + Y)
    forged = forge(made)
    nodes = dict(map(tuple, state(forged, kind, "nodes")[1:]))
    forged.array(nodes["bitset_idx"], forged.array(nodes["bitset_idx"]) + 999)
    refused(forged, "a tree uses a set of categories that does not exist")
    forged = forge(made)
    first = state(forged, kind, "thresholds")[1]
    forged.array(first, forged.array(first) + 300.0)
    refused(forged, "is not in 0 to 255")
    for name in ("_bin_mapper", "_preprocessor", "_predictors"):
        forged = forge(made)
        forged.objects(kind)[-1]["state"][name] = ["dict", ["make_known_categories_bitsets", ["function", "numpy.exp"]]]
        refused(forged, "has an attribute that is not declared")
    forged = forge(made)
    state(forged, kind, "reader")[1] = 0
    refused(forged, "does not match its declaration")
    forged = forge(made)
    reader = forged.objects("sklearn.ColumnTransformer")[-1]["state"]
    reader["transformers_"][1][2] = "passthrough"
    refused(forged, "reads its columns in an unknown way")


def test_categories_of_indicators_are_plain_and_in_order(forge, refused):
    kind = "sklearn.OneHotEncoder"
    made = make_pipeline(OneHotEncoder(max_categories=3, handle_unknown="ignore"), Ridge()).fit(CODES, Y)
    for change, said in (
        (lambda values: values[::-1].copy(), "categories of an encoder are out of order"),
        (lambda values: np.append(values[:-1], np.nan)[::-1].copy(), "categories of an encoder are out of order"),
        (lambda values: values[:-1], "codes beyond its columns|do not match its categories|codes"),
    ):
        forged = forge(made)
        node = state(forged, kind, "categories_")[1]
        forged.array(node, change(forged.array(node)))
        refused(forged, said)
    forged = forge(made)
    forged.document["arrays"][state(forged, kind, "categories_")[1][1]][0] = "c16"
    refused(forged, "an array has an unknown type")
    forged = forge(made)
    node = state(forged, kind, "_default_to_infrequent_mappings")[1]
    forged.array(node, forged.array(node) + 10**6)
    refused(forged, "codes beyond its columns")
    forged = forge(made)
    forged.objects(kind)[-1]["state"]["_n_features_outs"] = ["list", 1, 1, 1]
    refused(forged, "do not match its categories")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("_dual_coef_", np.zeros((1, 1))),
        ("_n_support", np.zeros(1, "i4")),
        ("_n_support", np.zeros(2, "i4")),
        ("_intercept_", np.zeros(0)),
        ("support_vectors_", np.zeros((2, 2))),
        ("support_", np.zeros(1, "i4")),
        ("_probA", np.zeros(1)),
    ],
)
def test_support_vectors_have_coefficients(name, values, forge, refused):
    for model in (SVR(), NuSVR()):
        forged = forge(model.fit(PLAIN, Y))
        forged.array(state(forged, f"sklearn.{type(model).__name__}", name), values)
        refused(forged, "does not match its declaration|vectors without coefficients")


def test_support_vector_machines_are_what_they_say(forge, refused):
    for part, name, node in (
        ("state", "_sparse", True),
        ("state", "_effective_probability", True),
        ("state", "_impl", "c_svc"),
        ("state", "_gamma", ["float", "nan"]),
        ("parameters", "kernel", "precomputed"),
        ("parameters", "kernel", ["function", "numpy.exp"]),
        ("parameters", "degree", -1),
    ):
        forged = forge(SVR().fit(PLAIN, Y))
        forged.objects("sklearn.SVR")[-1][part][name] = node
        refused(forged, "does not match its declaration|not declared|vectors without|is not in its range|is a function")


def test_sparse_matrices_are_looked_through(forge, refused):
    for place, change, said in (
        (3, lambda values: values + 10**6, "entries beyond its columns"),
        (3, lambda values: values - 1, "entries beyond its columns"),
        (4, lambda values: values[:-1], "invalid row pointers"),
        (4, lambda values: values + 1, "invalid row pointers"),
        (4, lambda values: np.r_[values[0], values[-1], values[2:]].astype("i4"), "invalid row pointers"),
        (2, lambda values: values[:-1], "has invalid data"),
    ):
        forged = forge(SVR(kernel="linear").fit(SPARSE, Y))
        node = state(forged, "sklearn.SVR", "support_vectors_")
        forged.array(["array", node[place]], change(forged.array(["array", node[place]])))
        refused(forged, said)
    forged = forge(SVR(kernel="linear").fit(SPARSE, Y))
    state(forged, "sklearn.SVR", "support_vectors_").append(["check_format", ["type", "object"]])
    refused(forged, "a sparse matrix is invalid")


def test_neighbours_are_looked_for_among_what_was_checked(forge, refused):
    kind = "sklearn.KNeighborsRegressor"
    for part, name, node, said in (
        ("state", "_tree", ["list", 1], "not declared"),
        ("state", "_fit_method", "brute", "not declared"),
        ("state", "effective_metric_params_", ["dict"], "not declared"),
        ("parameters", "n_neighbors", 0, "not in its range"),
        ("parameters", "n_neighbors", -1, "not in its range"),
        ("parameters", "leaf_size", 0, "not in its range"),
        ("parameters", "metric_params", ["dict", ["Y_norm_squared", 1.0]], "an unknown metric"),
        ("parameters", "metric", ["function", "numpy.exp"], "is a function"),
        ("parameters", "n_jobs", 10**9, "n_jobs of a sklearn.KNeighborsRegressor must be None or at most 1024"),
        ("state", "n_features_in_", 2, "does not match its declaration|the stated number of columns"),
    ):
        forged = forge(KNeighborsRegressor(3).fit(PLAIN, Y))
        forged.objects(kind)[-1][part][name] = node
        refused(forged, said)


def test_a_random_state_ends_where_it_ends(forge, refused):
    forged = forge(Ridge(solver="sag", random_state=np.random.RandomState(0)).fit(PLAIN, Y))
    node = forged.objects("sklearn.Ridge")[-1]["parameters"]["random_state"]
    for position in (625, -1, 10**9):
        node[2] = position
        refused(forged, "a random state is invalid")


def test_columns_that_are_not_filled_cannot_be_asked_for(forge, refused):
    """They would show what was in memory before."""
    forged = forge(fitted("PolynomialFeatures"))
    for name in ("_n_out_full", "n_output_features_", "_max_degree"):
        forged.objects("sklearn.PolynomialFeatures")[-1]["state"] = {"n_features_in_": 3, name: 9}
        refused(forged, "a sklearn.PolynomialFeatures has an attribute that is not declared")
    forged = forge(fitted("SplineTransformer"))
    forged.objects("sklearn.SplineTransformer")[-1]["state"]["n_features_out_"] = 10**6
    refused(forged, "the number of columns does not match the splines")
    forged = forge(fitted("DummyRegressor"))
    forged.objects("sklearn.DummyRegressor")[-1]["state"]["n_outputs_"] = 10**6
    refused(forged, "different numbers of outputs and constants")
    forged = forge(fitted("RegressorChain"))
    forged.objects("sklearn.RegressorChain")[-1]["state"]["order_"] = ["list", 1, 1]
    refused(forged, "has an invalid order")
    forged = forge(fitted("LocalRidge"))
    node = forged.objects("pacband.Model")[-1]["parameters"]["y"]
    forged.objects("pacband.Model")[-1]["parameters"]["y"] = forged.add(forged.array(node)[:-1])
    refused(forged, "different numbers of targets and samples")


def test_only_what_may_stand_there_stands_there(forge, refused):
    forged = forge(fitted("GaussianProcessRegressor"))
    kernels = [k for k, entry in enumerate(forged.document["objects"]) if entry["kind"].startswith("sklearn.kernels.")]
    forged.document["value"][3][1] = ["list", ["object", kernels[0]]]
    refused(forged, "a predictor is none")
    forged = forge(make_pipeline(StandardScaler(), Ridge()).fit(PLAIN, Y))
    forged.objects("sklearn.Pipeline")[-1]["parameters"]["steps"] = ["list", 3]
    refused(forged, "steps of a Pipeline are not pairs|not in its range")


def test_kinds_have_names_that_a_file_cannot_choose(forge, refused):
    for kind in (
        "sklearn.linear_model._base.LinearRegression",
        "os.system",
        "sklearn.KMeans",
        "x; touch y",
        "\x1b[31m",
    ):
        forged = forge(LinearRegression().fit(PLAIN, Y))
        forged.objects("sklearn.LinearRegression")[-1]["kind"] = kind
        refused(forged, "an object has a kind that this version of pacband does not know")
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.objects("sklearn.LinearRegression")[-1]["state"]["\x1b[31m; touch y"] = 1
    refused(forged, "a sklearn.LinearRegression has an attribute that is not declared")


def test_names_of_types_are_names(forge, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    for name in ("lightgbm.x; touch y", "a\x1b[31m", "a b", "a.", ".a", "", "$(x)"):
        with pytest.raises(CertificateError, match="does not follow its schema"):
            forged.data(trusted=[name])
    (tmp_path / "forged.pacband").write_bytes(forged.data(trusted=["os.system"]))
    with pytest.raises(UntrustedTypes, match=r"1 type\(s\) that pacband cannot check: os\.system\."):
        pacband.load(tmp_path / "forged.pacband")


def test_what_is_not_named_at_the_top_is_not_loaded(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.document["objects"].append({"kind": "trusted", "file": 0})
    refused(forged, "an object refers to a file that does not exist")
    forged.document["objects"][-1] = {"kind": "lightgbm.LGBMRegressor", "parameters": {}, "state": {"text": "x"}}
    refused(forged, "it contains a lightgbm.LGBMRegressor, which its manifest does not name")


def test_shared_objects_cannot_be_walked_through_for_ever(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    objects = forged.document["objects"]
    last = len(objects) - 1
    for _ in range(30):
        pair = [["tuple", name, ["object", last]] for name in ("a", "b")]
        template = {"estimators": ["list", *pair], "n_jobs": None, "verbose": False, "weights": None}
        both = {"estimators_": ["list", ["object", last], ["object", last]]}
        objects.append({"kind": "sklearn.VotingRegressor", "parameters": template, "state": both})
        last += 1
    refused(forged, "objects are shared too often or nested too deeply")


def test_values_nested_deep_are_refused(forge, refused):
    for levels in (100, 100_000):
        forged = forge(LinearRegression().fit(PLAIN, Y))
        text = json.dumps(forged.document).encode()
        deep = b'["list",' * levels + b"1" + b"]" * levels
        data = text.replace(b'"objects":', b'"value":' + deep + b',"objects":', 1)
        files = {**forged.others, "model.json": data, "model.arrays": forged.block}
        from hashlib import sha256

        content = forged.manifest | {
            "files": {name: {"bytes": len(part), "sha256": sha256(part).hexdigest()} for name, part in files.items()},
            "arrays": {"bytes": len(forged.block), "compressed": False},
        }
        refused(
            _zip({"manifest.json": document_bytes("pacband/model", 2, content), **files}),
            "not the JSON that pacband writes",
        )


def test_a_small_file_cannot_unpack_to_a_large_one(forge, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.add(np.zeros(100 << 17))
    path = tmp_path / "forged.pacband"
    path.write_bytes(forged.data())
    assert path.stat().st_size < 1 << 20
    honest = len(forged.block)
    lying = forged.data(arrays={"bytes": 10, "compressed": True})
    for data, said in (
        (path.read_bytes(), f"its arrays would unpack to {honest} bytes"),
        (lying, "its arrays are not of the size it states"),
        (forged.data(arrays={"bytes": 2**50, "compressed": True}), "would take about .* bytes of memory"),
    ):
        path.write_bytes(data)
        tracemalloc.start()
        try:
            with pytest.raises(CertificateError, match=said):
                pacband.load(path)
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()


def test_sizes_are_stated_and_limited_and_the_limit_can_be_raised(tmp_path):
    path = holding(
        KNeighborsRegressor(3).fit(np.random.default_rng(0).normal(size=(2000, 3)), np.arange(2000.0)), tmp_path / "m"
    )
    with pytest.raises(CertificateError, match=r"would take about \d+ bytes of memory, more than 50000") as caught:
        pacband.load(path, max_bytes=50_000)
    needed = int(str(caught.value).split("max_bytes=")[1].rstrip("."))
    assert pacband.load(path, max_bytes=needed).eps == 0.1
    with pytest.raises(CertificateError, match="more than"):
        pacband.load(path, max_bytes=needed - 1)
    for wrong in (0, -1, True, 1e9, "1"):
        with pytest.raises(pacband.InvalidInput, match=r"max_bytes must be (an integer|at least 1)"):
            pacband.load(path, max_bytes=wrong)


def test_arrays_cannot_be_larger_than_their_block(forge, refused):
    for shape in ([2**47], [10**9, 10**9], [2**64], [-1], [1, 1, 1, 1, 1], [0.5], None):
        forged = forge(LinearRegression().fit(PLAIN, Y))
        forged.document["arrays"][0][2] = shape
        refused(forged, "an array has an invalid shape|do not fill their block of bytes exactly")
    forged = forge(LinearRegression().fit(PLAIN, Y))
    node = ["texts", [20_000], ["a" * 20_000] + ["b"] * 19_999]
    forged.objects("sklearn.LinearRegression")[-1]["state"]["coef_"] = node
    tracemalloc.start()
    try:
        refused(forged, "far longer than the others")
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


def _old_file(certificate):
    """Return a file as pacband wrote it before: a manifest, a certificate, and a dump of skops."""
    from hashlib import sha256

    files = {"certificate.json": certificate, "model.skops": b"PK\x05\x06" + bytes(18)}
    content = {
        "kind": "regressor",
        "candidates": [],
        "versions": {"pacband": "0.1.0", "scikit-learn": "1.6.0"},
        "columns": {},
        "files": {name: sha256(entry).hexdigest() for name, entry in files.items()},
    }
    document = {"schema": "pacband/model", "schema_version": 1, "content": content}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    document["sha256"] = sha256(text).hexdigest()
    return _zip({"manifest.json": (json.dumps(document, indent=2) + "\n").encode(), **files})


def test_files_of_before_are_refused_in_one_line(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    refused(
        _old_file(forged.others["certificate.json"]),
        "was written by an early version of pacband, in a format that is not supported any more",
    )


def test_edits_are_seen(forge, refused, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    data = forged.data()
    with zipfile.ZipFile(BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    other = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "other.json")

    def edited(**changes):
        return _zip({**files, **{name.replace("__", "."): content for name, content in changes.items()}})

    manifest, certificate = files["manifest.json"], files["certificate.json"]
    for changed, said in (
        (edited(certificate__json=other.read_bytes()), "was edited: its files are not those"),
        (edited(more__txt=b"more"), "was edited: its files are not those"),
        (edited(manifest__json=manifest.replace(b'"regressor"', b'"family"')), "edited or damaged"),
        (
            edited(manifest__json=manifest.replace(b'"schema_version": 2', b'"schema_version": 9')),
            "written by a newer pacband: its schema_version is 9",
        ),
        (_zip(dict(reversed(files.items()))), "it is not, byte for byte, what pacband wrote"),
        (_zip({"anything.txt": b"any archive"}), "an archive without a manifest"),
    ):
        refused(changed, said)
    forged.others["certificate.json"] = certificate.replace(b'"eps": 0.1', b'"eps": 0.2')
    refused(forged, "edited or damaged")
    forged.others = {"certificate.json": certificate, "more.txt": b"more"}
    refused(forged, r"was edited: it must hold certificate.json, model.json and model.arrays, got 4 files")


def test_changes_in_the_directory_of_the_archive_are_seen(forge, refused):
    data = forge(LinearRegression().fit(PLAIN, Y)).data()
    for place in range(data.index(b"PK\x01\x02"), len(data)):
        refused(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], "edited|damaged|truncated|newer|not a ")


def test_only_the_certificate_is_read_where_only_it_is_asked_for(forge, tmp_path):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.document["objects"].append({"kind": "nonsense"})
    (tmp_path / "forged.pacband").write_bytes(forged.data(arrays={"bytes": 2**50, "compressed": True}))
    assert load_certificate(tmp_path / "forged.pacband").eps == 0.1


def written(path, model, certificate=None, **changes):
    """Write a model with some of its parts replaced, and another certificate that it claims as its own."""
    certificates = certificates_of(model)[1] if certificate is None else (certificate,)
    parts = {**take_apart(model), "certificates": [cert.digest for cert in certificates], **changes}
    document, arrays = write_content(parts, Trust())
    return write_archive(path, Archive(kind_of(model), (), versions(), {}, (), certificates, document, arrays))


def test_only_known_attributes_are_set(tmp_path):
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(PLAIN, Y)
    for changes, said in (
        ({"of_x": {"n_features_in_": 3, "predict": np.exp}}, "of_x of a pacband model does not match its declaration"),
        ({"parameters": {"eps": 0.1, "predict": 1}}, "other parameters than this pacband"),
        ({"more": 1}, "other parts than those of a model"),
        ({"predictors": ["predict"]}, "a predictor is none"),
        ({"scales": ["mad"]}, "a scale is none"),
    ):
        with pytest.raises(CertificateError, match=said):
            pacband.load(written(tmp_path / "model.pacband", model, **changes))


def test_a_model_that_does_not_fit_its_certificate_is_refused(tmp_path):
    path = tmp_path / "model.pacband"
    plain = CertifiedRegressor(LinearRegression(), **PROMISE).fit(PLAIN, Y)
    scaled = CertifiedRegressor(LinearRegression(), scale=scale.NeighborScale(), **PROMISE).fit(PLAIN, Y)
    many = np.random.default_rng(0).normal(size=(400, 2))
    grouped = CertifiedRegressor(LinearRegression(), groups=1, **PROMISE).fit(
        np.c_[many[:, 0], many[:, 1] > 0], many[:, 0]
    )
    family = CertifiedFamily({"estimator": LinearRegression()}, **PROMISE).fit(PLAIN, Y)
    with pytest.raises(CertificateError, match="does not fit its certificate"):
        pacband.load(written(path, plain, names=[]))
    for model, other, message in (
        (plain, scaled, "one has a scale, the other has none"),
        (scaled, plain, "one has a scale, the other has none"),
        (plain, grouped, "one has groups, the other has none"),
        (grouped, plain, "one has groups, the other has none"),
        (plain, family, "one is of a family, the other is not"),
        (family, plain, "does not fit its certificate"),
    ):
        with pytest.raises(CertificateError, match=message):
            pacband.load(written(path, model, other.certificate_))
    other = CertifiedRegressor(LinearRegression(), **PROMISE).fit(PLAIN, np.exp(Y)).certificate_
    with pytest.raises(CertificateError, match="it was saved with another one"):
        pacband.load(written(path, plain, other, certificates=[plain.certificate_.digest]))


def test_loading_makes_nothing_that_was_not_declared(forge, tmp_path):
    """Whatever the process can reach, a file cannot import: no module comes in by loading one."""
    forged = forge(make_pipeline(StandardScaler(), Ridge()).fit(PLAIN, Y))
    (tmp_path / "forged.pacband").write_bytes(forged.data())
    code = (
        "import sys, pacband\n"
        f"pacband.load({str(tmp_path / 'forged.pacband')!r})\n"
        "print([name for name in ('skops', 'pickle5', 'lightgbm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert zlib.decompress(zlib.compress(b"")) == b""
