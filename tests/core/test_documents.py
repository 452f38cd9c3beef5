"""Documents are the bytes that json writes with an indent."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.core import documents as _storage
from support.documents import DOCUMENTS


@pytest.mark.parametrize("kind", range(len(DOCUMENTS)))
def test_files_are_what_json_writes_with_an_indent(kind):
    _, document = DOCUMENTS[kind]
    assert _storage._serialize(document) == (json.dumps(document, indent=2) + "\n").encode("ascii")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_any_value_is_written_as_json_writes_it(value):
    assert _storage._serialize(value) == (json.dumps(value, indent=2) + "\n").encode("ascii")
