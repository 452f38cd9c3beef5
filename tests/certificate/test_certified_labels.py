"""Labels of rows matched with the groups of a certificate."""

import numpy as np
import pytest

from pacband.certificate.certified_labels import locate_rows, refuse_unknown
from pacband.exceptions import InvalidInput

PLACES = {"north": 0, "south": 1}


def test_every_row_has_the_place_of_its_label():
    labels = np.array(["south", "north", "south"])
    assert locate_rows(labels, PLACES).tolist() == [1, 0, 1]
    assert locate_rows(labels[:0], PLACES).shape == (0,)


def test_labels_without_a_certificate_are_named_and_so_are_those_with_one():
    with pytest.raises(
        InvalidInput, match=r"groups has labels without a certificate: 'west'\. Certified are 'north', 's"
    ):
        locate_rows(np.array(["north", "west"]), PLACES)
    with pytest.raises(InvalidInput, match=r"^column 'site' has labels"):
        refuse_unknown(["east"], PLACES, "column 'site'")
    assert refuse_unknown(["south"], PLACES, "groups") is None


def test_no_rows_have_no_places():
    places = locate_rows(np.array([], dtype=object), {"north": 0})
    assert (places.shape, places.dtype) == ((0,), np.dtype(np.intp))
