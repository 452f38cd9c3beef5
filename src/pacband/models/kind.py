"""`Kind`: how objects of one class are written to a model file and rebuilt from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["Kind"]


@dataclass(frozen=True, eq=False)
class Kind:
    """A class whose objects a model file may contain.

    Attributes
    ----------
    name : str
        The name in the file. It never changes, even if modules move.
    module, class_name : str
        Where the class is imported from.
    role : {"model", "kernel", "splitter", "part"}
        Where its objects may be used: which parameters and attributes may refer to them.
    declaration : str
        The attributes of a fitted object that are saved, in the language of `pacband.models.declare`.
    not_saved : str
        Names of attributes that are not saved, because predictions do not need them or `restore` computes them.
    extract : function of the object
        Returns further state as plain values, for attributes that are not plain.
    restore : function of (object, state)
        Turns the state from `extract` back into attributes. Changes `state` in place.
    check : function of the object
        Raises `Unsound` unless the attributes match each other. Compiled code would use them without a check.
    parameters : function of the object
        Returns the arguments of the constructor, for classes without `get_params`.
    declared_parameters : str
        The declaration of these arguments. By default, an argument is any plain value, or an object of a role that the
        argument's name allows.
    make : function of the parameters
        Makes an object. By default, the class does.
    also_unfitted : bool
        Whether `extract` and `check` apply to objects that are not fitted as well.
    needs_trust : bool
        Whether the user must name the type to save or load it, because code of another package reads its state.
    """

    name: str
    module: str
    class_name: str
    role: str = "model"
    declaration: str = ""
    not_saved: str = ""
    extract: Callable[[Any], dict[str, Any]] | None = None
    restore: Callable[[Any, dict[str, Any]], None] | None = None
    check: Callable[[Any], None] | None = None
    parameters: Callable[[Any], Mapping[str, Any]] | None = None
    declared_parameters: str = ""
    make: Callable[..., Any] | None = None
    also_unfitted: bool = False
    needs_trust: bool = False

    def load(self) -> Any:
        """Return the class. Raise AttributeError or ImportError if the installed version does not have it."""
        return getattr(import_module(self.module), self.class_name)

    def new(self, parameters: Mapping[str, Any]) -> Any:
        """Return an object that is not fitted."""
        return (self.make or self.load())(**parameters)
