"""Which pages have a list of their sections."""

from support.site import extension


def test_a_list_of_one_or_two_sections_is_left_out():
    needs_list = extension("page_lists").needs_list
    assert needs_list("how_to/sklearn_model", "<li>" * 4)
    assert not needs_list("how_to/recalibration", "<li>" * 3)
    assert needs_list("gallery/index", "<li>" * 5)
    assert not needs_list("gallery/paper/paper", "<li>" * 5)
