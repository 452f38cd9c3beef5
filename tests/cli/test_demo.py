"""`pacband demo`."""

import pacband


def test_the_demo_writes_a_certificate_and_a_report(run, tmp_path):
    done = run("demo", "--folder", "made")
    assert done.returncode == 0, done.stderr
    assert len(pacband.load(tmp_path / "made" / "certificate.json").candidates) == 10
    assert (tmp_path / "made" / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "do not contradict" in done.stdout
