"""Rows are drawn by a hash as chance would draw them, the same in numpy and in SQL."""

import duckdb
import numpy as np

from pacband.tables.sample import draw_rows, hash_rows, hash_sql


def test_the_hash_draws_rows_as_chance_would():
    """About 3,000 of 100,000 rows, all over the table and no more in pairs than by chance; within 5 deviations each."""
    drawn = draw_rows(100_000, 3000)
    assert abs(len(drawn) - 3000) < 5 * np.sqrt(3000)
    assert (np.abs(np.bincount(drawn // 10_000) - 300) < 5 * np.sqrt(300)).all()
    assert (np.abs(np.bincount(drawn % 7) - 3000 / 7) < 5 * np.sqrt(3000 / 7)).all()
    for lag in (1, 2, 7, 24, 1000):
        both = len(np.intersect1d(drawn, drawn + lag))
        assert abs(both - 90) < 5 * np.sqrt(90)
    beyond = np.arange(2**40, 2**40 + 1000)
    assert (hash_rows(beyond) >= 0).all()
    sql = duckdb.sql(f"select {hash_sql('r')} from (select 1099511627776 + range as r from range(1000))")
    assert np.array([value for (value,) in sql.fetchall()]).tolist() == hash_rows(beyond).tolist()
