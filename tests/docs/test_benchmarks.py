"""What `make bench` leaves behind: a file with machine, versions and date, and the page that shows it."""

import json
import re
import sys

import pytest

from support.site import ROOT, require_sphinx

RECORDS = sorted((ROOT / "docs" / "benchmarks").glob("*.json"))


@pytest.fixture
def record(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import _record

    return _record


def test_what_is_printed_is_kept_and_printed(record, capfd):
    with record.print_and_keep() as kept:
        print("δ = 0.05")
    assert kept.getvalue() == "δ = 0.05\n"


def test_a_record_has_machine_versions_and_date(record, tmp_path):
    path = record.save_record(tmp_path / "new", "planning", about="A.\n", text="\nB\n", seconds=1.23, quick=True)
    content = json.loads(path.read_text("utf-8"))
    assert path.name == "planning.json"
    assert (content["about"], content["text"], content["seconds"], content["quick"]) == ("A.", "B", 1.2, True)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", content["date"])
    assert content["machine"].keys() == {"processor", "cores", "memory", "system"}
    assert content["versions"]["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"pacband", "numpy", "scipy", "scikit-learn"} <= content["versions"].keys()


def test_a_run_that_was_ended_goes_on(record, tmp_path, capfd, monkeypatch):
    from benchmarks import _journal
    from benchmarks._bands import Outcome

    monkeypatch.setattr(_journal, "FOLDER", tmp_path / "new")
    outcome, asked = Outcome(1.5, 0.1, 2.0, "1.6"), []

    def measure():
        asked.append(None)
        return outcome

    first = _journal.Journal("budgets", quick=True)
    assert first.get("a", measure) == first.get("a", measure) == outcome
    assert first.get("b", lambda: "no time") == "no time"
    second = _journal.Journal("budgets", quick=True)
    assert "2 outcomes are of an earlier part of this run" in capfd.readouterr().out
    assert (second.get("a", measure), second.get("b", measure)) == (outcome, "no time")
    assert len(asked) == 1
    # Other code is another run.
    monkeypatch.setattr(_journal, "_digest", lambda: "other")
    assert _journal.Journal("budgets", quick=True).get("a", measure) == outcome
    assert len(asked) == 2
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["budgets-quick.jsonl"]
    second.finish()
    assert not list((tmp_path / "new").iterdir())


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_records_of_the_page_are_results(path):
    content = json.loads(path.read_text("utf-8"))
    assert content["benchmark"] == path.stem
    assert content["quick"] is False
    assert (ROOT / "benchmarks" / f"{path.stem}.py").exists()


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_page_states_where_it_was_measured(path, monkeypatch):
    require_sphinx()
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from benchmark_pages import section

    content = json.loads(path.read_text("utf-8"))
    shown = "\n".join(section(content))
    for part in (content["date"], content["machine"]["processor"], content["versions"]["numpy"]):
        assert part in shown
    # Every number that was printed, in the same order.
    numbers = re.compile(r"\d[\d.,]*")
    assert " ".join(numbers.findall(content["text"])) in " ".join(numbers.findall(shown))
    assert "smoke test" not in shown
    assert "a smoke test and not a result" in "\n".join(section(content | {"quick": True}))


def test_tables_of_a_terminal_are_tables_of_the_page(monkeypatch):
    require_sphinx()
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from benchmark_pages import printed_as_markdown

    printed = """\
two solvers, with σ̂
               ms  of a*b
-------------  --  ------
dense (no σ̂)   7
line            3   0.43×
aim  found
---  -----  ---
1 s  3 ms   met
aim: at most a second: met"""
    shown = [line for line in printed_as_markdown(printed.splitlines()) if line]
    assert shown == [
        "**two solvers, with σ̂**",
        "| case | ms | of a\\*b |",
        "| :--- | ---: | ---: |",
        "| dense (no σ̂) | 7 |  |",
        "| line | 3 | 0.43× |",
        "| aim | found | verdict |",
        "| ---: | ---: | :--- |",
        "| 1 s | 3 ms | met |",
        "aim: at most a second: met",
    ]
