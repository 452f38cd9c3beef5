"""Wrong twins: a function or a constant replaced wherever the package uses it, whatever modules that is in."""

import sys
from importlib import import_module

# `fit` imports the search when it needs it: then a module of it would keep the twin after the test.
_LATE = "pacband.candidates.automatic"


def put_in_place(monkeypatch, function, twin):
    """Replace a function of pacband by its twin in every module that holds it."""
    import_module(_LATE)
    places = [
        (module, name) for module in _modules() for name, value in list(vars(module).items()) if value is function
    ]
    assert places, f"no module holds {function!r}"
    for module, name in places:
        monkeypatch.setattr(module, name, twin)


def use_number(monkeypatch, home, name, value):
    """Replace a constant of pacband by another value, in its home and in every module that imported it."""
    before = getattr(home, name)
    for module in _modules():
        if vars(module).get(name) is before:
            monkeypatch.setattr(module, name, value)


def _modules():
    return [module for key, module in list(sys.modules.items()) if key.partition(".")[0] == "pacband" and module]
