"""A date is the same number of days in every type of column, on every machine."""

import duckdb
import pytest

from pacband.core.dates import to_days
from pacband.tables.connection import connect
from pacband.tables.date_columns import days_of_column_sql


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize(
    ("column", "held", "text"),
    [
        ("timestamptz '2025-01-01 00:00:00+00'", "TIMESTAMP WITH TIME ZONE", "2025-01-01"),
        ("timestamptz '2025-01-01 01:30:00+05'", "TIMESTAMP WITH TIME ZONE", "2025-01-01 01:30:00+05:00"),
        ("timestamp '2025-01-01 06:00:00'", "TIMESTAMP", "2025-01-01 06:00:00"),
        ("date '2025-01-01'", "DATE", "2025-01-01"),
        ("'2025-01-01T01:30+05:00'", "VARCHAR", "2025-01-01 01:30:00+05:00"),
    ],
)
def test_days_do_not_depend_on_the_time_zone_of_the_machine(zone, column, held, text):
    with connect() if zone is None else duckdb.connect() as connection:
        if zone is not None:
            connection.execute(f"set TimeZone = '{zone}'")
        relation = connection.sql(f"select {column} as t")
        assert str(relation.types[0]) == held
        assert relation.project(days_of_column_sql('"t"', held, "date-ymd")).fetchall() == [(to_days(text, "ymd"),)]
