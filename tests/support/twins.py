"""Wrong twins: a function replaced by a wrong one wherever the package uses it, whatever modules that is in."""

import sys


def put_in_place(monkeypatch, function, twin):
    """Replace a function of pacband by its twin in every module that holds it."""
    places = [
        (module, name)
        for key, module in list(sys.modules.items())
        if key.partition(".")[0] == "pacband" and module is not None
        for name, value in list(vars(module).items())
        if value is function
    ]
    assert places, f"no module holds {function!r}"
    for module, name in places:
        monkeypatch.setattr(module, name, twin)
