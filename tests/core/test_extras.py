"""Optional packages: one error, with the command that installs them."""

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pacband
from pacband.core import extras
from pacband.core.extras import install_command, missing_extra, require
from support.twins import put_in_place

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("polars", "polars"),
        ("pyspark.sql", "spark"),
        ("distributed", "dask"),
        ("skops.io", "cli"),
        ("pandas", "pandas"),
        ("python_calamine", "excel"),
        ("mlflow.pyfunc", "mlflow"),
        ("cryptography.exceptions", "sign"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(pacband.MissingExtra) as caught:
        require(module, purpose="a table")
    package = module.split(".")[0]
    assert str(caught.value) == f"a table needs the package {package!r}: pip install 'pacband[{extra}]'"
    # Callers that caught one of these before still do.
    assert isinstance(caught.value, pacband.InvalidInput)
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"all"}))
def test_every_package_of_an_extra_is_found_by_it(extra):
    for text in EXTRAS[extra]:
        package = Requirement(text).name
        found = str(missing_extra(package)).partition("pip install ")[2]
        named = found.removeprefix("'pacband[").removesuffix("]'")
        assert package in {Requirement(line).name for line in EXTRAS[named]}


def test_all_is_every_extra():
    (text,) = EXTRAS["all"]
    assert Requirement(text).name == "pacband"
    assert Requirement(text).extras == EXTRAS.keys() - {"all"}


def test_a_package_without_an_extra_is_installed_by_its_own_name():
    assert str(missing_extra("lightgbm.basic")) == "this needs the package 'lightgbm': pip install lightgbm"


def test_a_checkout_that_is_not_installed_is_named(monkeypatch, tmp_path):
    def unknown(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", unknown)
    assert install_command("cli") == f"pip install --editable '{ROOT}[cli]'"
    # Neither installed nor a checkout: a folder of modules that somebody copied.
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path)
    assert install_command("cli") == "pip install 'pacband[cli]'"
    odd = tmp_path / "it's mine"
    odd.mkdir()
    (odd / "pyproject.toml").touch()
    monkeypatch.setattr(extras, "_CHECKOUT", odd)
    assert install_command("cli") == f"""pip install --editable '{tmp_path}/it'"'"'s mine[cli]'"""


def test_a_figure_needs_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    with pytest.raises(pacband.MissingExtra, match=r"needs the package 'matplotlib': pip install 'pacband\[cli\]'"):
        pacband.plot_scores(cert, [1.0, 2.0, 3.0], [1.5, 2.0, 2.0])


HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {packages}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Hidden())
"""


def run_without(packages, code="import runpy; runpy.run_path('tests/bare.py', run_name='__main__')"):
    """Run Python in a process that does not find these packages."""
    hidden = HIDE.format(packages=sorted(packages))
    return subprocess.run([sys.executable, "-c", hidden + code], cwd=ROOT, capture_output=True, text=True, timeout=300)


def packages_of(*names):
    found = {Requirement(line).name for name in names for line in EXTRAS[name]}
    return (
        found | ({"py4j"} if "spark" in names else set()) | ({"mlflow"} if "mlflow" in names else set()) | {"pyarrow"}
    )


def test_without_extras_every_feature_works_or_names_its_extra():
    # Hidden packages stand for packages that are not installed; the library of a table in memory is.
    done = run_without(packages_of("cli", "dask", "spark", "mlflow", "sign") - {"pandas"})
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said["tables of pandas"] == said["tables of polars"] == said["save and load"] == "works"
    assert said["pacband"] == "the command line needs the package 'click': pip install 'pacband[cli]'"


def test_an_environment_with_extras_is_no_bare_one():
    done = run_without(["click"])
    assert done.returncode == 1
    assert done.stderr.startswith("this environment has extras: rich, duckdb")


def test_a_dataset_of_pyarrow_needs_duckdb(tmp_path):
    code = (
        "import pyarrow as pa, pyarrow.dataset, pacband; "
        "table = pa.dataset.dataset(pa.table({'y': [1.0] * 400, 'p': [2.0] * 400})); "
        "pacband.certify_frame(table, target='y', prediction='p')"
    )
    done = run_without(["duckdb"], code)
    assert done.stderr.splitlines()[-1] == (
        "pacband.exceptions.MissingExtra: a table like this needs the package 'duckdb': pip install 'pacband[cli]'"
    )


@pytest.mark.parametrize("package", ["duckdb", "matplotlib", "jinja2"])
def test_a_command_without_one_of_its_packages_says_so_in_one_line(package, tmp_path):
    (tmp_path / "data.csv").write_text("y,p\n" + "".join(f"{k},{k % 7}\n" for k in range(400)), "utf-8")
    command = ["pacband", "certify", "data.csv", "--target", "y", "--prediction", "p", "--report", "r.html", "-o", "c.json"]  # fmt: skip
    code = f"import os; os.chdir({str(tmp_path)!r}); sys.argv = {command!r}; from pacband.__main__ import main; main()"
    done = run_without([package], code)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"needs the package '{package}': pip install 'pacband[cli]'" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


def test_the_bare_script_notices_a_feature_that_fails_otherwise(monkeypatch):
    import runpy

    bare = runpy.run_path(str(ROOT / "tests" / "bare.py"))
    features = {
        "works": (lambda: None, None),
        "lies": (lambda: None, ("skops",)),
        "needs": (lambda: require("no_such"), None),
    }
    assert bare["mistakes"](features) == ["lies", "needs"]
    put_in_place(monkeypatch, missing_extra, lambda *args, **options: pacband.MissingExtra("two\nlines"))
    assert bare["mistakes"]({"two lines": (lambda: require("no_such"), ("no_such",))}) == ["two lines"]
