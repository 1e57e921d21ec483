"""The public names of the library with their signatures, one a line."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any, is_typeddict

MODULES = ("agent_feedback", "agent_feedback.agent", "agent_feedback.mcp")


def describe() -> str:
    """Return the list."""
    return "".join(f"{line}\n" for module in MODULES for line in _describe_module(module))


def _describe_module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    for member_name in sorted(module.__all__):
        member = getattr(module, member_name)
        yield f"{name}.{member_name}{_signature(member)}"
        if inspect.isclass(member) and not is_typeddict(member):
            yield from (f"{name}.{member_name}.{line}" for line in _describe_class(member))


def _describe_class(owner: type[Any]) -> Iterator[str]:
    names = {name for base in owner.__mro__ if base.__module__.startswith("agent_feedback") for name in vars(base)}
    for name in sorted(names):
        if name.startswith("_") or name in getattr(owner, "_fields", ()):
            continue
        static = inspect.getattr_static(owner, name)
        if isinstance(static, property):
            yield f"{name} -> {_annotation(inspect.signature(static.fget).return_annotation)}"
        elif callable(getattr(owner, name)):
            yield f"{name}{_signature(getattr(owner, name))}"


def _signature(member: Any) -> str:
    if not callable(member):
        return f": {type(member).__name__}"
    if inspect.isclass(member) and issubclass(member, BaseException) and "__init__" not in vars(member):
        return f"({member.__bases__[0].__name__})"
    if is_typeddict(member):
        members = ", ".join(f"{name}: {_annotation(value)}" for name, value in member.__annotations__.items())
        return f" {{{members}}}"
    return str(inspect.signature(member))


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
