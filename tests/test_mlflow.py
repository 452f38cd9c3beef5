"""Models in MLflow: logged without a pickle, loaded, served and used in Spark with the bits of `predict_interval`.

Everything stays on this machine: a store in SQLite in a folder of the tests, a server on loopback, no telemetry.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import pacband
from pacband import CertifiedFamily, CertifiedRegressor
from pacband.core.extras import install_command
from pacband.draws import Units
from support.blocks import run_page
from support.estimators import MODEL_PROMISE, draw, line
from support.spark import start_spark

ROWS, Y = draw(np.random.default_rng(0), 1500)
X = ROWS[["x"]].to_numpy()
FRESH, Y_FRESH = draw(np.random.default_rng(1), 400)
OFFLINE = {"MLFLOW_DISABLE_TELEMETRY": "true"}
# One process makes the store, which takes seconds.
pytestmark = [pytest.mark.xdist_group("mlflow"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    """MLflow with a new store of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in OFFLINE.items():
            patch.setenv(name, value)
        found = pytest.importorskip("mlflow", reason="needs the extra mlflow")
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        connections = []

        def connect(connection, record):
            # The store need not survive a power cut, and is made in a third of the time.
            connection.execute("PRAGMA synchronous=OFF")
            connections.append(connection)

        event.listen(Engine, "connect", connect)
        folder = tmp_path_factory.mktemp("mlflow")
        found.set_tracking_uri(f"sqlite:///{folder}/store.db")
        found.create_experiment("tests", artifact_location=(folder / "artifacts").as_uri())
        found.set_experiment("tests")
        yield found
        event.remove(Engine, "connect", connect)
        for connection in connections:
            connection.close()


@pytest.fixture(scope="module")
def groups():
    """A model of a table with a promise for every site."""
    return CertifiedRegressor(line(), groups="site", **MODEL_PROMISE).fit(ROWS, Y)


@pytest.fixture(scope="module")
def family():
    """A family of an array."""
    candidates = {"near": KNeighborsRegressor(2), "line": LinearRegression()}
    return CertifiedFamily(candidates, **MODEL_PROMISE).fit(X, Y)


@pytest.fixture(scope="module")
def logged(mlflow, groups):
    """The model of groups, logged with rows, and the run."""
    with mlflow.start_run() as run:
        # A tag of the user does not replace the promise.
        tags = {"team": "pumps", "pacband.promise": "none"}
        info = pacband.mlflow.log_model(groups, X=FRESH, y=Y_FRESH, input_example=FRESH.head(3), tags=tags)
    return info, mlflow.get_run(run.info.run_id)


def agrees(model, bands, rows):
    assert list(bands.columns) == ["prediction", "lower", "upper"]
    np.testing.assert_array_equal(bands["prediction"], model.predict(rows))
    np.testing.assert_array_equal(bands[["lower", "upper"]].to_numpy(), model.predict_interval(rows))


def artifacts(mlflow, uri):
    folder = Path(mlflow.artifacts.download_artifacts(uri))
    return {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}


def test_the_model_that_is_loaded_is_the_one_that_was_logged(mlflow, groups, logged):
    loaded = mlflow.pyfunc.load_model(logged[0].model_uri)
    agrees(groups, loaded.predict(FRESH[["site", "x"]].assign(note=0)), FRESH)
    with pytest.raises(Exception, match="missing inputs"):
        loaded.predict(FRESH[["x"]])


def test_what_is_logged_is_the_model_file_and_no_pickle(mlflow, groups, logged):
    files = artifacts(mlflow, logged[0].model_uri)
    # MLflow itself adds the last file when it loads a model.
    assert set(files) - {"registered_model_meta"} == {
        "MLmodel", "conda.yaml", "python_env.yaml", "requirements.txt", "data/model.pacband", "input_example.json",
        "serving_input_example.json",
    }  # fmt: skip
    assert pacband.load(files["data/model.pacband"]).certificate_ == groups.certificate_
    # A pickle of protocol 2 or later starts with these bytes.
    assert not any(path.read_bytes().startswith(b"\x80") for path in files.values())
    text = files["MLmodel"].read_text("utf-8")
    assert "loader_module: pacband.mlflow" in text
    assert "cloudpickle" not in "".join(files[name].read_text("utf-8") for name in ("MLmodel", "requirements.txt"))
    needed = files["requirements.txt"].read_text("utf-8").split()
    assert f"pacband[mlflow]=={pacband.__version__}" in needed
    assert any(line.startswith("scikit-learn==") for line in needed)


def test_the_run_has_certificate_report_and_numbers(mlflow, groups, logged):
    info, run = logged
    files = artifacts(mlflow, f"runs:/{run.info.run_id}/")
    assert pacband.load(files["certificates/model.json"]) == groups.certificate_
    page = files["reports/model.html"].read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert f"{len(FRESH)} " in page
    widths = np.diff(groups.predict_interval(FRESH))
    expected = {
        "gamma": max(part.gamma for part in groups.certificate_.groups.values()),
        "eps": 0.1,
        "delta": 0.05,
        "mean_width": float(widths.mean()),
    }
    assert run.data.metrics == expected
    model = mlflow.get_logged_model(info.model_id)
    assert {metric.key: metric.value for metric in model.metrics} == expected
    assert model.tags["pacband.promise"] == groups.certificate_.promise
    assert model.tags["pacband.certificate"] == groups.certificate_.digest
    assert model.tags["team"] == "pumps"
    assert model.params["n_groups"] == "3"
    assert run.info.status == "FINISHED"


def test_the_signature_has_types_where_rows_show_them(mlflow, groups, logged):
    signature = logged[0].signature
    assert str(signature.inputs) == "['x': double (required), 'site': string (required)]"
    assert signature.outputs.input_names() == ["prediction", "lower", "upper"]
    assert {str(kind) for kind in signature.outputs.input_types()} == {"DataType.double"}


def test_without_rows_any_number_is_taken(mlflow):
    whole = ROWS.assign(x=(100 * ROWS["x"]).astype(int), site=ROWS["site"].astype("category"))
    model = CertifiedRegressor(line(), **MODEL_PROMISE).fit(whole, Y)
    info = pacband.mlflow.log_model(model)
    assert str(info.signature.inputs) == "['x': Any (required), 'site': Any (required)]"
    loaded = mlflow.pyfunc.load_model(info.model_uri)
    agrees(model, loaded.predict(whole), whole)
    agrees(model, loaded.predict(whole.assign(x=whole["x"].astype(float))), whole)
    # Where the types are stated, MLflow refuses others.
    typed = mlflow.pyfunc.load_model(pacband.mlflow.log_model(model, X=whole).model_uri)
    agrees(model, typed.predict(whole), whole)
    with pytest.raises(Exception, match="Can not safely convert float64 to int64"):
        typed.predict(whole.assign(x=0.5))


def test_a_family_of_arrays_takes_arrays(mlflow, family):
    info = pacband.mlflow.log_model(family, "family")
    loaded = mlflow.pyfunc.load_model(info.model_uri)
    agrees(family, loaded.predict(X), X)
    agrees(family, loaded.predict(np.array([[1], [2]])), np.array([[1], [2]]))
    assert mlflow.get_logged_model(info.model_id).params["candidate"] == family.best_name_


def test_a_family_with_groups(mlflow):
    candidates = {"line": line(), "near": make_pipeline(line()[0], KNeighborsRegressor(2))}
    model = CertifiedFamily(candidates, groups="site", **MODEL_PROMISE).fit(ROWS, Y)
    info = pacband.mlflow.log_model(model, "family", X=FRESH, y=Y_FRESH)
    agrees(model, mlflow.pyfunc.load_model(info.model_uri).predict(FRESH), FRESH)
    files = artifacts(mlflow, f"runs:/{info.run_id}/")
    assert (
        pacband.load(files["certificates/family.json"]) == model.certificate_ == model.certificates_[model.best_name_]
    )
    assert "reports/family.html" in files


def test_units_are_reported_as_units(mlflow):
    table, fresh = (rows.assign(machine=np.arange(len(rows)) // 3 + start) for rows, start in ((ROWS, 0), (FRESH, 900)))
    model = CertifiedRegressor(line(), draws=Units("machine"), **MODEL_PROMISE).fit(table, Y)
    info = pacband.mlflow.log_model(model, "units", X=fresh, y=Y_FRESH)
    assert info.signature.inputs.input_names() == ["x", "site"]
    agrees(model, mlflow.pyfunc.load_model(info.model_uri).predict(FRESH), FRESH)
    files = artifacts(mlflow, f"runs:/{info.run_id}/")
    assert "machines" in files["reports/units.html"].read_text("utf-8")


def test_a_report_of_the_user_is_logged(mlflow, family):
    page = pacband.report(family.certificate_, title="Pump 7")
    info = pacband.mlflow.log_model(family, "family", report=page)
    assert artifacts(mlflow, f"runs:/{info.run_id}/")["reports/family.html"].read_text("utf-8") == page.html


def test_a_run_is_started_and_ended_where_none_is_active(mlflow, family):
    assert mlflow.active_run() is None
    info = pacband.mlflow.log_model(family)
    assert mlflow.active_run() is None
    assert mlflow.get_run(info.run_id).info.status == "FINISHED"
    with mlflow.start_run() as run:
        # Two models in one run, each with its own numbers.
        infos = [pacband.mlflow.log_model(family, name) for name in ("one", "two")]
        assert mlflow.active_run().info.run_id == run.info.run_id == infos[0].run_id == infos[1].run_id
    files = artifacts(mlflow, f"runs:/{run.info.run_id}/")
    assert {name for name in files if name.startswith("certificates")} == {
        "certificates/one.json",
        "certificates/two.json",
    }


def test_a_registered_model_has_the_promise(mlflow, family):
    pacband.mlflow.log_model(family, registered_model_name="pressure")
    (version,) = mlflow.search_model_versions(filter_string="name='pressure'")
    assert version.tags["pacband.promise"] == family.certificate_.promise
    agrees(family, mlflow.pyfunc.load_model("models:/pressure/1").predict(X), X)


def test_trusted_types_are_loaded_without_asking(mlflow):
    model = CertifiedRegressor(
        make_pipeline(KMeans(3, n_init=1, random_state=0), LinearRegression()), **MODEL_PROMISE
    ).fit(X, Y)
    info = pacband.mlflow.log_model(model, "trusted", trusted=[KMeans])
    agrees(model, mlflow.pyfunc.load_model(info.model_uri).predict(X), X)
    assert "skops==" in artifacts(mlflow, info.model_uri)["requirements.txt"].read_text("utf-8")


def test_requirements_of_the_user(mlflow, family):
    info = pacband.mlflow.log_model(family, pip_requirements=["/wheels/pacband-0.1.0-py3-none-any.whl", "mlflow"])
    needed = artifacts(mlflow, info.model_uri)["requirements.txt"].read_text("utf-8").split()
    assert needed == ["/wheels/pacband-0.1.0-py3-none-any.whl", "mlflow"]


def refusals(groups, family):
    unfitted = CertifiedRegressor(LinearRegression())
    function = CertifiedRegressor(lambda X: X[:, 0], **MODEL_PROMISE).calibrate(X, Y)
    clusters = CertifiedRegressor(make_pipeline(KMeans(2, n_init=1), LinearRegression()), **MODEL_PROMISE).fit(X, Y)
    log, invalid = pacband.mlflow.log_model, pacband.InvalidInput
    return {
        "not fitted": (lambda: log(unfitted), NotFittedError, "not fitted yet"),
        "another kind": (lambda: log(LinearRegression()), invalid, "must be a CertifiedRegressor or CertifiedFamily"),
        "function": (lambda: log(function), invalid, "a function cannot be saved"),
        "untrusted": (lambda: log(clusters), invalid, "Save it with trusted="),
        "trusted": (lambda: log(family, trusted="x"), invalid, "trusted must be a list"),
        "name": (lambda: log(family, "a/b"), invalid, "name must be a text without / : . % \" ', and not empty; got 'a/b'"),
        "empty name": (lambda: log(family, " "), invalid, "name must be a text"),
        "no name": (lambda: log(family, None), invalid, "name must be a text"),
        "registered": (lambda: log(family, registered_model_name="a:b"), invalid, "registered_model_name must be a text"),
        "y alone": (lambda: log(family, y=Y), invalid, "y needs the rows it belongs to: pass X as well"),
        "y and report": (
            lambda: log(family, X=X, y=Y, report=pacband.report(family.certificate_)), invalid, "either report or y"),
        "report": (lambda: log(family, report="report.html"), invalid, "report must be what pacband.report returns, got str"),
        "other report": (
            lambda: log(family, report=pacband.report(groups.certificate_)), invalid, "about the certificate of this model"),
        "columns": (lambda: log(groups, X=FRESH[["x"]]), invalid, "'site' is missing"),
        "rows": (lambda: log(family, X=X[:, :0]), ValueError, "feature"),
        "targets": (lambda: log(family, X=X, y=Y[:5]), ValueError, "5"),
        "example": (lambda: log(groups, input_example=FRESH.assign(site="moon")), invalid, "moon"),
    }  # fmt: skip


def test_bad_input_is_refused_and_nothing_is_written(mlflow, groups, family):
    def written():
        return len(mlflow.search_runs(search_all_experiments=True)), len(mlflow.search_logged_models())

    before = written()
    for case, (log, error, words) in refusals(groups, family).items():
        with pytest.raises(error) as caught:
            log()
        assert words in str(caught.value), case
    assert mlflow.active_run() is None
    assert written() == before


def test_without_mlflow_one_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(pacband.MissingExtra) as caught:
        pacband.mlflow.log_model(CertifiedRegressor(LinearRegression()))
    assert str(caught.value) == f"log_model needs the package 'mlflow': {install_command('mlflow')}"


def post(port, path, content=None):
    """Return the status and the text that a server on loopback answers."""
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture
def served(logged, tmp_path):
    """The port on which `mlflow models serve` serves the logged model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", logged[0].artifact_path]
    # The command starts uvicorn by its name.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--env-manager", "local", "--host", "127.0.0.1", "--port", str(port)],
            env={**os.environ, **OFFLINE, "PATH": path},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            for _ in range(1200):
                try:
                    post(port, "/ping")
                    break
                except OSError:
                    assert server.poll() is None, (tmp_path / "log").read_text("utf-8")
                    time.sleep(0.05)
            yield port
        finally:
            # The command and the server that it started.
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)


@pytest.mark.skipif(os.name == "nt", reason="ends the server by its group of processes")
def test_a_server_on_loopback_answers_with_the_same_bits(served, groups):
    rows = FRESH.head(50)
    status, answer = post(served, "/invocations", {"dataframe_split": rows.to_dict(orient="split", index=False)})
    assert status == 200, answer
    agrees(groups, pd.DataFrame(json.loads(answer)["predictions"]), rows)
    # A site without a certificate gets no band, and the server goes on.
    status, answer = post(served, "/invocations", {"dataframe_records": [{"x": 0.5, "site": "moon"}]})
    assert (status, "moon" in answer) == (400, True)
    status, answer = post(served, "/invocations", {"dataframe_records": [{"x": 0.5}]})
    assert (status, "site" in answer) == (400, True)
    status, answer = post(served, "/invocations", {"dataframe_records": [{"x": 0.5, "site": "coast"}]})
    agrees(groups, pd.DataFrame(json.loads(answer)["predictions"]), pd.DataFrame({"x": [0.5], "site": ["coast"]}))


@pytest.mark.filterwarnings("ignore")
def test_a_function_of_spark_gives_the_same_bits(mlflow, logged, groups, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spark = start_spark()
    try:
        band = mlflow.pyfunc.spark_udf(spark, logged[0].artifact_path, env_manager="local")
        table = spark.createDataFrame(FRESH.reset_index()).coalesce(1)
        found = table.withColumn("band", band("x", "site")).select("index", "band.*").toPandas().sort_values("index")
        agrees(groups, found.drop(columns="index"), FRESH)
    finally:
        spark.stop()


def test_the_page_of_production_shows_what_mlflow_returns(mlflow, run):
    run_page(Path(__file__).parents[1] / "docs" / "how_to" / "production.md", run)
