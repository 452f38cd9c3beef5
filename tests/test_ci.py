"""Which Python the tests run on, and which libraries: what `.ci/run` and `make` find out for themselves."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT, GROUPS = SETTINGS["project"], SETTINGS["dependency-groups"]
LOCKS = sorted((ROOT / ".ci").glob("lock-*.txt"))


@pytest.fixture
def machine(tmp_path):
    """A machine with these Pythons on its path, and those in pyenv; each is a script that knows its version."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "sh", "seq", "grep", "sort", "tail", "cut", "env"):
        found = next(f"{place}/{name}" for place in ("/usr/bin", "/bin") if os.path.exists(f"{place}/{name}"))
        (tools / name).symlink_to(found)

    def python(path, version):
        path.parent.mkdir(parents=True, exist_ok=True)
        final = re.fullmatch(r"3\.(1[1-9]|[2-9]\d)\.\d+", version) is not None
        path.write_text(
            f'#!/bin/sh\ncase "$2" in *exit*) exit {int(not final)};; *) echo {version};; esac\n' if version else "#!/bin/sh\nexit 127\n"
        )  # fmt: skip
        path.chmod(0o755)

    def run(wanted, on_path=(), in_pyenv=()):
        for name, version in dict(on_path).items():
            python(tools / name, version)
        if in_pyenv:
            root = tmp_path / "pyenv"
            for version in in_pyenv:
                python(root / "versions" / version / "bin" / "python", version)
            listed = "\\n".join(in_pyenv)
            (tools / "pyenv").write_text(f'#!/bin/sh\ncase $1 in root) echo {root};; *) printf "{listed}\\n";; esac\n')
            (tools / "pyenv").chmod(0o755)
        done = subprocess.run(
            [str(tools / "bash"), str(ROOT / ".ci" / "find-python"), wanted],
            env={"PATH": str(tools)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip().replace(f"{tmp_path}/", "")

    return run


def test_the_newest_python_of_a_machine_is_found(machine):
    on_path = {"python3": "3.11.7", "python3.11": "3.11.7", "python3.12": "3.12.1"}
    assert machine("newest", on_path) == "bin/python3.12"


def test_pythons_of_pyenv_are_found_and_previews_are_not(machine):
    # The python3.13 of pyenv is on the path, and answers only where pyenv was told to use it.
    on_path = {"python3": "3.11.7", "python3.13": "", "python3.14": "3.14.0rc1"}
    in_pyenv = ["2.7.18", "3.10.13", "3.9.18", "3.13.0", "3.12.10", "3.14.0a2"]
    assert machine("newest", on_path, in_pyenv) == "pyenv/versions/3.13.0/bin/python"
    assert machine("python3.13", on_path, in_pyenv) == "pyenv/versions/3.13.0/bin/python"
    assert machine("python3", on_path, in_pyenv) == "python3"
    # What is not there is named as it was, and the shell says that there is no such command.
    assert machine("python3.15", on_path, in_pyenv) == "python3.15"


def test_a_machine_without_a_python(machine):
    assert machine("newest", {"python3": "3.9.2"}) == ""


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_the_lock_fits_the_project_and_names_no_host(lock):
    lines = [line for line in lock.read_text("utf-8").splitlines() if not line.startswith("#")]
    pinned = dict(re.fullmatch(r"([\w.-]+)==([\w.+!]+)", line).groups() for line in lines)
    pinned = {canonicalize_name(name): Version(version) for name, version in pinned.items()}
    for needed in requirements():
        assert pinned[canonicalize_name(needed.name)] in needed.specifier, str(needed)


def requirements(groups=("test", "lint", "docs")):
    """What the library, its extras and these groups need, other than pacband itself."""
    lines = [*PROJECT["dependencies"], *(line for extra in PROJECT["optional-dependencies"].values() for line in extra)]
    lines += [line for group in groups for line in GROUPS[group]]
    return [needed for needed in map(Requirement, lines) if needed.name != "pacband"]


def test_there_is_a_lock():
    assert LOCKS


def test_development_is_in_groups_and_dev_has_what_the_lock_has():
    assert not {"test", "lint", "docs", "bench", "dev"} & PROJECT["optional-dependencies"].keys()
    assert GROUPS["dev"] == [{"include-group": "test"}, {"include-group": "lint"}]


def test_every_requirement_has_a_lower_bound_and_no_upper():
    for needed in requirements(("test", "lint", "docs", "bench", "rivals")):
        assert [bound.operator for bound in needed.specifier] == [">="], str(needed)


def test_the_oldest_libraries_are_the_lower_bounds():
    lines = (ROOT / "tests" / "oldest.txt").read_text("utf-8").splitlines()
    oldest = {needed.name: needed.specifier for needed in map(Requirement, lines[1:])}
    for needed in requirements(groups=()):
        (bound,), (pin,) = needed.specifier, oldest[needed.name]
        # Some first releases of a minor version are yanked or broken: a later patch stands for them.
        assert Version(pin.version).release[:2] == (*Version(bound.version).release, 0)[:2], str(needed)


def test_makefile_and_workflows_install_groups_that_exist():
    files = [ROOT / "Makefile", *(ROOT / ".github" / "workflows").glob("*.yml")]
    text = "\n".join(path.read_text("utf-8") for path in files)
    assert set(re.findall(r"--group (\w+)", text)) == {"test", "dev", "docs", "bench", "rivals"}
    assert set(re.findall(r'"\.\[([\w,]+)\]"', text)) == {"cli", "all"}


def test_pip_is_new_enough_for_groups_before_they_are_installed():
    made = subprocess.run(["make", "--dry-run", "test", "lint", "docs", "bench", "rivals", "lock", "VENV=.venv-that-is-not-there"], cwd=ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    ready = set()
    for environment, rest in re.findall(r"^(\S+)/bin/python -m pip (.*)$", made.stdout, re.MULTILINE):
        if "pip>=25.1" in rest:
            ready.add(environment)
        assert "--group" not in rest or environment in ready, rest
    assert {".venv-that-is-not-there", ".venv-lock"} <= ready


def test_workflows_have_least_privileges_and_pinned_actions():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {}
        for job in workflow["jobs"].values():
            assert set(job["permissions"].items()) <= {("contents", "read"), ("id-token", "write")}
            for step in job["steps"]:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))


def test_the_classifiers_are_the_pythons_of_the_tests():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))["jobs"]
    tested = jobs["newest"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == tested
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_hooks_are_linters_of_the_group():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    revisions = {hook["repo"].rpartition("/")[2].removesuffix("-pre-commit"): hook.get("rev", "") for hook in hooks}
    allowed = {needed.name: needed.specifier for needed in map(Requirement, GROUPS["lint"])}
    for name in ("ruff", "codespell", "zizmor"):
        assert Version(revisions[name]) in allowed[name]


def test_the_citation_has_the_version_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]
    assert cited == re.search(r'^__version__ = "(.+)"$', (ROOT / "src/pacband/__init__.py").read_text("utf-8"), re.M)[1]


def test_the_ordinary_tests_run_on_two_pythons_and_the_second_run_measures_coverage():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    runs = [line.split() for line in script.splitlines() if "make test " in line]
    assert ["COVERAGE=1" in run for run in runs] == [False, True]
    assert "export PYTEST_ADDOPTS=--durations=25" in script


def test_the_documentation_is_built_and_its_tests_cannot_be_skipped():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert script.index("\nmake docs ") < script.index("PACBAND_SITE=docs/_build/html make test ")
    assert "PACBAND_REQUIRE_DOCS=1" in script
    docs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))["jobs"]["docs"]
    assert docs["steps"][-1]["env"] == {"PACBAND_REQUIRE_DOCS": "1", "PACBAND_SITE": "docs/_build/html"}


def test_coverage_has_a_floor():
    settings = SETTINGS["tool"]["coverage"]
    assert settings["report"]["fail_under"] >= 98
    assert settings["run"]["source_pkgs"] == ["pacband"]
    assert "subprocess" in settings["run"]["patch"]
    assert "exclude_also" not in settings["report"]


def test_contributing_lists_every_target():
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    listed = re.findall(r"^make ([a-z]+) *#", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert {"test", "coverage", "lint", "verify", "mutants"} <= set(targets)
    assert sorted(listed) == sorted(set(targets) - {"help"})


def test_links_of_the_readme_become_absolute_for_a_package_index():
    script = ROOT / ".ci" / "absolute-links"
    made = subprocess.run(
        [sys.executable, str(script), "https://example.org/owner/pacband/", "v1.2.3"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=True,
    ).stdout
    at = "https://example.org/owner/pacband"
    assert f"]({at}/raw/v1.2.3/docs/images/paper_family.svg)" in made
    assert f"[what each is for]({at}/blob/v1.2.3/docs/start.md#install)" in made
    assert "(https://arxiv.org/abs/2105.14187)" in made
    assert all(target.startswith("https://") for target in re.findall(r"\]\(([^)\s]+)\)", made))
    # Nothing else changes.
    own = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.sub(rf"{at}/(raw|blob)/v1\.2\.3/", "", made) == own
