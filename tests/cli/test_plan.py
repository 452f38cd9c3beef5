"""`pacband plan`."""

import json


def test_plan_speaks_to_people_and_to_machines(pacband):
    said = pacband("plan", "--eps", "0.05", "--delta", "1e-6", "--candidates", "10")
    assert said.returncode == 0
    assert "Draw 1590 samples" in said.stdout
    assert said.stderr == ""
    plan = json.loads(pacband("plan", "--samples", "2065", "--json").stdout)
    assert (plan["n_samples"], plan["rank"]) == (2065, 60)
