"""Weighted sums of products: from one table, from portions, and one by one."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal

from pacband.local import products
from pacband.local.products import Products
from support.twins import use_number


def draw(rank, n=90):
    rng = np.random.default_rng(rank)
    return rng.standard_normal((n, rank)), rng.standard_normal(n), rng.uniform(0, 1, (4, n))


def unpacked(packed, order):
    stack = np.zeros((len(packed), order, order))
    stack[:, np.tril_indices(order)[0], np.tril_indices(order)[1]] = packed[:, :-1]
    return stack


@pytest.mark.parametrize("memory", [1024, 0.5], ids=["kept", "in portions"])
@pytest.mark.parametrize("rank", [0, 1, 20])
def test_sums_are_those_of_the_definition(monkeypatch, rank, memory):
    use_number(monkeypatch, products, "_PORTION", 1 << 14)
    F, r, weights = draw(rank)
    with sklearn.config_context(working_memory=memory):
        table = Products(F, r)
        assert (table.whole_table() is None) == (rank == 20 and memory < 1)
        packed, total = table.sums(weights)
    z = np.column_stack([F, r])
    expected = np.einsum("nj,ja,jb->nab", weights, z, z)
    assert_allclose(unpacked(packed, rank + 1), np.tril(expected), rtol=1e-10, atol=1e-12)
    assert_allclose(total, weights.sum(axis=1))


def test_large_orders_are_summed_one_by_one():
    F, r, weights = draw(170)
    stack, total = Products(F, r).sums(weights)
    z = np.column_stack([F, r])
    assert_allclose(stack, np.einsum("nj,ja,jb->nab", weights, z, z), rtol=1e-9, atol=1e-10)
    assert_allclose(total, weights.sum(axis=1))


def test_a_table_is_kept_up_to_a_sixteenth_of_the_memory_and_made_for_a_prediction_up_to_a_quarter():
    F, r, _ = draw(20)  # 90 × 232 numbers: 163 KiB
    rows = np.array([3, 1])
    for memory, kept, whole in ((3, True, True), (1, False, True), (0.5, False, False)):
        with sklearn.config_context(working_memory=memory):
            table = Products(F, r)
            assert (table.whole_table() is not None) == whole
            assert np.shares_memory(table.table(slice(0, 5)), table.table(slice(0, 5))) == kept
            assert_array_equal(table.table(rows), Products(F[rows], r[rows]).table(slice(None)))
