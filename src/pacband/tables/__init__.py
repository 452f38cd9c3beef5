"""Tables of any library and any size.

A table in memory (pandas, polars, pyarrow) is read as arrays. A table in an engine (polars lazy, DuckDB, Dask, PySpark)
stays there: the engine computes expressions, counts and a few rows come back (`pacband.selection`), and the certificate
is the one that arrays give, to the last bit. The result is a table of the caller's own kind.
"""
