"""What pacband does where no extra is installed: it works, or says in one line what to install.

`python tests/bare.py` in an environment without extras. `tests/core/test_extras.py` hides the packages instead.
"""

import contextlib
import importlib
import io
import os
import sys
import tempfile

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import pacband
from pacband.__main__ import main as command

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
Y = X[:, 0] + RNG.normal(size=600)
PROMISE = {"eps": 0.1, "delta": 0.01}
CERTIFICATE = pacband.certify(Y, X[:, 0], **PROMISE)
MODEL = pacband.CertifiedRegressor(LinearRegression(), **PROMISE).fit(X, Y)


def save_and_load():
    MODEL.save("model.pacband")
    pacband.load("model.pacband").predict_interval(X)
    CERTIFICATE.save("cert.json")
    assert pacband.load("cert.json") == CERTIFICATE


def save_trusted():
    model = pacband.CertifiedRegressor(make_pipeline(KMeans(3, n_init=1), LinearRegression()), **PROMISE).fit(X, Y)
    model.save("trusted.pacband", trusted=[KMeans])


def monitor(then=None):
    watching = pacband.Monitor(CERTIFICATE)
    watching.update(Y, X[:, 0])
    return watching.save("state.json") if then is None else getattr(watching, then)()


# What a user does, and the package it needs if it needs one.
FEATURES = {
    "plan": (lambda: pacband.plan(**PROMISE), None),
    "certify": (lambda: str(CERTIFICATE) + CERTIFICATE._repr_html_(), None),
    "check": (lambda: pacband.check(CERTIFICATE, Y, X[:, 0]), None),
    "diagnose": (lambda: pacband.diagnose(Y, X[:, 0]), None),
    "curve": (lambda: pacband.certify_curve(Y, X[:, 0], delta=0.01), None),
    "save and load": (save_and_load, None),
    "monitor": (monitor, None),
    "report as JSON": (lambda: pacband.report(CERTIFICATE, Y, X[:, 0]).to_dict(), None),
    "report as Markdown": (lambda: pacband.report(CERTIFICATE, Y, X[:, 0]).to_markdown(), ("jinja2",)),
    "report as a page": (lambda: pacband.report(CERTIFICATE, Y, X[:, 0]).save("report.html"), ("jinja2", "matplotlib")),
    "figure": (lambda: pacband.plot_scores(CERTIFICATE, Y, X[:, 0]), ("matplotlib",)),
    "figure of a monitor": (lambda: monitor("plot"), ("matplotlib",)),
    "trusted types": (save_trusted, ("skops",)),
    "log to MLflow": (lambda: pacband.mlflow.log_model(MODEL), ("mlflow",)),
    "signatures": (lambda: pacband.generate_keys("private.pem", "public.pem"), ("cryptography",)),
}


def frame_features(library):
    """Return features of tables in memory: they need the library of the table, and no other."""
    frame = library.DataFrame({"y": Y, "p": X[:, 0]})
    columns = {"target": "y", "prediction": "p"}

    def judge():
        certificate = pacband.certify_frame(frame, **columns, **PROMISE)
        return pacband.apply_frame(certificate, frame), pacband.check_frame(certificate, frame)

    def score():
        MODEL.save("model.pacband")
        return pacband.mlflow._load_pyfunc("model.pacband").predict(library.DataFrame(X))

    return {
        # A server needs what the extra mlflow installs, and no more.
        **({"a served model": (score, None)} if library.__name__ == "pandas" else {}),
        f"tables of {library.__name__}": (judge, None),
        f"models on tables of {library.__name__}": (
            lambda: pacband.CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame[["p"]], frame["y"]),
            None,
        ),
    }


def missing(feature):
    """Return the error of a feature whose package is not installed, or None."""
    try:
        feature()
    except pacband.MissingExtra as error:
        return str(error)
    return None


def mistakes(features):
    """Print what every feature says. Return the names of those that say something else than they should."""
    wrong = []
    for name, (feature, packages) in features.items():
        said = missing(feature)
        print(f"{name}: {said or 'works'}")
        if packages is None:
            good = said is None
        else:
            good = said is not None and any(
                f"needs the package '{package}': pip install " in said for package in packages
            )
            good = good and "\n" not in said
        wrong += [] if good else [name]
    return wrong


def mistakes_of_the_command():
    """Print what the command line says without its packages."""
    error = io.StringIO()
    sys.argv = ["pacband", "plan"]
    with contextlib.redirect_stderr(error), contextlib.suppress(SystemExit):
        command()
    print(error.getvalue(), end="")
    expected = "pacband: the command line needs the package 'click': pip install "
    return [] if error.getvalue().startswith(expected) and error.getvalue().count("\n") == 1 else ["command line"]


def installed(package):
    """Whether an optional package can be imported, against the purpose of this script."""
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(package)
        return True
    return False


def main():
    """Exit 1 if a feature neither works nor says what it needs."""
    present = [
        package
        for package in ("click", "rich", "duckdb", "jinja2", "matplotlib", "skops", "cryptography")
        if installed(package)
    ]
    if present:
        sys.exit(f"this environment has extras: {', '.join(present)}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        features = dict(FEATURES)
        for package in filter(installed, ("pandas", "polars")):
            features |= frame_features(importlib.import_module(package))
        wrong = mistakes(features) + mistakes_of_the_command()
        os.chdir("/")
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
