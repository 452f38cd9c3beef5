"""The limit of the threads of linear algebra: callers that overlap leave the process as it was."""

from contextlib import ExitStack

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pacband.core.blas_threads import _LIMIT, blas_threads, one_blas_thread


def current():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_limit_ends_with_its_last_caller_in_any_order():
    with threadpool_limits(limits=2, user_api="blas"):
        assert blas_threads() == 2
        first, second = ExitStack(), ExitStack()
        first.enter_context(one_blas_thread())
        second.enter_context(one_blas_thread())
        assert current() == {1}
        assert blas_threads() == 2
        first.close()
        assert current() == {1}
        second.close()
        assert current() == {2}
        assert blas_threads() == 2


def test_an_error_ends_the_limit():
    with threadpool_limits(limits=2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 / 0
        assert current() == {2}


def test_a_fork_starts_without_callers():
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            _LIMIT.forget()  # as in the child of a fork
        assert current() == {2}
        with one_blas_thread():
            assert current() == {1}
        assert current() == {2}
