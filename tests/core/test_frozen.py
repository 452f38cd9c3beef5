"""A mapping that cannot be changed."""

import pytest

from pacband.core.frozen import FrozenMap


def test_a_frozen_map_keeps_its_order_and_is_a_copy():
    items = {"b": 1, "a": 2}
    frozen = FrozenMap(items)
    items["c"] = 3
    assert list(frozen.items()) == [("b", 1), ("a", 2)]
    assert (frozen == {"a": 2, "b": 1}, len(frozen), repr(frozen)) == (True, 2, "{'b': 1, 'a': 2}")
    with pytest.raises(TypeError):
        frozen["a"] = 5


def test_equal_maps_have_equal_hashes():
    assert hash(FrozenMap({"a": 1, "b": 2})) == hash(FrozenMap({"b": 2, "a": 1}))
