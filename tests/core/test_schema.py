"""The quick check of a schema accepts nothing that jsonschema refuses."""

import copy
import json
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.core import documents as _storage
from pacband.core.schema import quick_check
from support.documents import DOCUMENTS

NAMES = ("pacband/certificate", "pacband/monitor", "pacband/model")


ODD = (None, True, 0, 1, -1, 1.0, 0.5, -0.0, 1e30, 10**30, "", "x", "1", [], [1], {}, {"a": 1})


def places(value, path=()):
    """Yield the path of every entry."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def changed(document, path, change):
    """Return the document with one entry replaced, removed or added."""
    if not path:
        return change
    found = copy.deepcopy(document)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    if change is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = change
    return found


def valid(name, document):
    return next(_storage._validator(name).iter_errors(document), None) is None


@pytest.mark.parametrize("kind", range(len(DOCUMENTS)))
def test_what_pacband_writes_is_accepted_at_once(kind):
    name, document = DOCUMENTS[kind]
    assert _storage._quick_check(name)(document)
    assert valid(name, document)


@pytest.mark.parametrize("kind", range(len(DOCUMENTS)))
def test_no_change_of_an_entry_is_accepted_that_jsonschema_refuses(kind):
    name, document = DOCUMENTS[kind]
    quick, refused = _storage._quick_check(name), 0
    for path in list(places(document))[:: 1 + kind % 3]:
        for change in (..., *ODD) if path else ODD:
            forged = changed(document, path, change)
            if quick(forged):
                assert valid(name, forged), (path, change)
            else:
                refused += 1
    assert refused > 100


@given(data=st.data())
def test_no_pair_of_changes_is_accepted_that_jsonschema_refuses(data):
    name, document = data.draw(st.sampled_from(DOCUMENTS))
    for _ in range(2):
        path = data.draw(st.sampled_from([path for path in places(document) if path]))
        document = changed(document, path, data.draw(st.sampled_from([..., *ODD])))
    if _storage._quick_check(name)(document):
        assert valid(name, document)


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_can_be_checked_quickly(name):
    text = resources.files("pacband.core.schemas").joinpath(f"{name.replace('/', '-')}.json").read_text("utf-8")
    assert not quick_check(json.loads(text))({})


def test_a_keyword_says_nothing_of_types_it_is_not_for():
    check = quick_check({"type": ["number", "null"], "minimum": 0})
    assert [check(value) for value in (1, 0.0, None, -1, "x", True)] == [True, True, True, False, False, False]


def test_a_keyword_that_is_not_known_is_an_error():
    with pytest.raises(KeyError, match="multipleOf"):
        quick_check({"type": "number", "multipleOf": 2})
