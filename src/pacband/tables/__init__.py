"""Tables of any library and any size: certified where they are, and given their band.

narwhals in, narwhals out. Columns of a table in memory (pandas, polars, pyarrow) become arrays. A table that is a
promise of rows (polars lazy, DuckDB, Dask, PySpark) is never brought here: expressions are pushed down to its engine,
counts and a few rows come back (`pacband.selection`), and the certificate is the one that arrays would give, to the
last bit.
"""

from pacband.tables.applying import apply_frame
from pacband.tables.certifying import certify_frame
from pacband.tables.checking import check_frame
from pacband.tables.chunks import certify_chunks

__all__ = ["apply_frame", "certify_chunks", "certify_frame", "check_frame"]
