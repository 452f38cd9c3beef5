"""A fit that fails leaves an estimator as it was: an old certificate must not meet new columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

__all__ = ["all_or_nothing"]

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Return the method such that, if it raises, all attributes of the estimator are those from before the call."""

    @wraps(method)
    def restoring(self: Any, *args: Any, **kwargs: Any) -> Any:
        attributes = vars(self)
        before = dict(attributes)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            attributes.clear()
            attributes.update(before)
            raise

    return cast(Method, restoring)
