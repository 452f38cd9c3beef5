"""Where long names of code break."""

from support.site import extension


def test_long_names_break_at_joints():
    parts_of = extension("long_names").parts_of
    assert parts_of("pacband.certify") == ["pacband.certify"]
    name = "tests/theorems/test_beta_law.py::test_the_law"
    assert parts_of(name)[:3] == ["tests/", "theorems/", "test_"]
    assert "".join(parts_of(f"see {name}, x")) == f"see {name}, x"
