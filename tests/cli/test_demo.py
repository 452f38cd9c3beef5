"""`pacband demo`."""

import pacband


def test_the_demo_writes_a_certificate_and_a_report(run, tmp_path):
    done = run("demo", "--folder", "made")
    assert done.returncode == 0, done.stderr
    assert len(pacband.load(tmp_path / "made" / "certificate.json").candidates) == 10
    assert (tmp_path / "made" / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "do not contradict" in done.stdout
    before = (tmp_path / "made" / "certificate.json").read_bytes()
    again = run("demo", "--folder", "made", "--seed", 1)
    assert (again.returncode, "certificate.json exists: name a folder without" in again.stderr) == (2, True)
    assert (tmp_path / "made" / "certificate.json").read_bytes() == before
