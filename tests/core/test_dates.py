"""Dates of several countries: one meaning each, the same in Python and in SQL, and no guess where two fit."""

from datetime import datetime, timedelta

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacband.core.dates import ORDERS, UNCLEAR, date_order, days_sql, matches_sql, to_days

FORMS = {
    "ymd": ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"),
    "dmy": ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y"),
    "mdy": ("%m/%d/%Y", "%m-%d-%Y"),
}
TIMES = ("", " %H:%M", "T%H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S%p", "T%H:%M:%SZ", " %H:%M+00:00")
MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(2999, 12, 31))


@given(
    MOMENTS,
    st.sampled_from([(order, form) for order, forms in FORMS.items() for form in forms]),
    st.sampled_from(TIMES),
)
def test_a_date_comes_back(moment, dated, time):
    order, form = dated
    text = moment.strftime(form + time)
    # strftime writes years before 1000 without leading zeros on some systems; these start at 1000.
    again = datetime.strptime(
        text.replace("Z", "").removesuffix("+00:00"), (form + time).replace("Z", "").removesuffix("+00:00")
    )
    assert to_days(text, order) == pytest.approx((again - datetime(1970, 1, 1)) / timedelta(days=1), rel=0, abs=1e-9)
    assert date_order([text]) in (order, UNCLEAR)


CLOCK = r"([T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?( ?[AaPp][Mm])?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
TEXTS = st.one_of(
    st.from_regex(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}" + CLOCK, fullmatch=True),
    *(st.from_regex(pattern, fullmatch=True) for pattern in ORDERS.values()),
    st.text(alphabet="0123456789./-: T", max_size=20),
).filter(lambda text: "\n" not in text)


@settings(max_examples=30)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_python_and_sql_agree(texts):
    with duckdb.connect() as connection:
        for order in ORDERS:
            columns = f"{days_sql('t', order)}, {matches_sql('t', order)}"
            rows = connection.execute(f"select {columns} from (select unnest(?) as t)", [texts]).fetchall()
            assert [row[0] for row in rows] == [to_days(text, order) for text in texts], (order, texts)


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["2025-12-31", "2025-01-02 12:00"], "ymd"),
        (["31.12.2025", "1.2.2025"], "dmy"),
        (["01.02.2025"], "dmy"),
        (["31/12/2025", "01/02/2025"], "dmy"),
        (["12/31/2025", "01/02/2025"], "mdy"),
        (["01/02/2025", "03/04/2025"], UNCLEAR),
        (["31/12/2025", "12/31/2025"], None),
        (["31.12.25"], None),
        (["10.0.0.1"], None),
        (["1.234"], None),
        ([], None),
    ],
)
def test_the_order_of_a_column_is_what_all_its_cells_show(cells, order):
    assert date_order(cells) == order


def test_zones_are_one_clock():
    assert to_days("1970-01-01 01:00+01:00", "ymd") == 0.0
    assert to_days("1969-12-31T19:00:00-05:00", "ymd") == 0.0
