"""Tables of libraries that are not known are refused."""

import pytest

import pacband
from pacband.exceptions import InvalidInput


def test_what_is_no_table_is_refused():
    with pytest.raises(InvalidInput, match="frame must be a table"):
        pacband.certify_frame([1, 2, 3], target="y", prediction="p")
