"""What a policy is, for the names under which its games are kept: the same again only if it would play the same again.

* A text is itself, with the content of every file and folder that it names, and with what makes bots that the user has registered.
* An object is its pickle. What a pickle only names says nothing of what it does; so functions and classes from outside the library and
  the installed packages count by their code and by all that the code mentions, and files by their content.
* An object of which this cannot be found out is another one in every run.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib.util
import io
import json
import os
import pickle
import re
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher

import baselines
from trick_core.bots import BotFactory, LazyFactory, as_bot, factory_of

#: Packages of this library: its version stands for them.
LIBRARY = ("trick_core", "bolola_env", "tarot_env", "baselines", "benchmarks", "seeds")
#: What stands between the parts of a policy's text.
SEPARATORS = ":,="
#: Entries of a class that say nothing of what it does, or that others say as well.
_IDLE = (
    "__dict__",
    "__weakref__",
    "__module__",
    "__doc__",
    "__annotations__",
    "__firstlineno__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "_abc_impl",
)


def what_is(spec: Any, folder: Path | None = None) -> dict[str, Any]:
    """A policy's name, and what sets it apart from others of that name: for JSON.

    Args:
        spec: The policy, a text or an object.
        folder: Where a ladder writes; what it has written there is no part of a policy.
    """
    if isinstance(spec, str):
        return _text(spec, folder)
    return {"name": as_bot(spec).name, **_found_out(spec)}


def _found_out(spec: Any) -> dict[str, str]:
    """The hash of an object; of one that hides what it is, a word that no other run has."""
    try:
        return {"sha256": _object(spec)}
    except Exception:  # an object's own pickling may raise anything
        return {"run": secrets.token_hex(16)}


def _text(spec: str, folder: Path | None) -> dict[str, Any]:
    argument = spec.partition(":")[2]
    found: dict[str, Any] = {}
    for part in re.split(f"[{SEPARATORS}]", spec):
        if factory := _users_factory(part.strip()):
            found[part] = _found_out(factory)
    for part in _stretches(argument):
        if os.path.isfile(part):
            found[part] = _sha256(Path(part))
        elif os.path.isdir(part):
            found[part] = _of_folder(Path(part), folder)
    if list(found) == [argument]:
        return {"name": spec, "sha256": found[argument]}
    return {"name": spec, "sha256": found} if found else {"name": spec}


def _users_factory(name: str) -> BotFactory | None:
    """What makes the bots of a name, unless the library does, whose bots need not be imported for that."""
    factory = factory_of(name)
    if isinstance(factory, LazyFactory):
        return None if _root(factory.module) in LIBRARY else factory.load()
    ours = _root(getattr(factory, "__module__", None) or "") in LIBRARY
    return None if ours or getattr(factory, "func", None) is baselines._make else factory


def _stretches(text: str) -> Iterator[str]:
    """All that stands between two separators of a text, which a path may hold too: ``net=runs/lr=0.1/x.npz``."""
    edges = [-1, *(k for k, letter in enumerate(text) if letter in SEPARATORS), len(text)]
    for i, start in enumerate(edges):
        for end in edges[i + 1 :]:
            if part := text[start + 1 : end].strip():
                yield part


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _of_folder(top: Path, folder: Path | None) -> str:
    """Hash over the files below a folder, names and contents; not over what a ladder has written."""
    own = None if folder is None else folder.resolve()
    seen, files = set(), {}
    for place, folders, names in os.walk(top, followlinks=True):
        here = Path(place).resolve()
        if here in seen or (own is not None and here == own / "chunks"):
            folders.clear()
            continue
        seen.add(here)
        folders.sort()
        for name in names:
            file = Path(place, name)
            if file.is_file() and (here != own or file.stem != "ladder"):
                files[file.relative_to(top).as_posix()] = _sha256(file)
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


# Objects.


def _object(spec: Any) -> str:
    """Hash of an object by what it does; raises whatever keeps that from being found out."""
    stream, versions = io.BytesIO(), dict[str, str]()
    _ByContent(stream, versions).dump(spec)
    stream.write(json.dumps(versions, sort_keys=True).encode())
    return hashlib.sha256(stream.getvalue()).hexdigest()


class _ByContent(pickle.Pickler):
    """Writes what is never read again: the same for the same content, in every process.

    Args:
        stream: Where to.
        versions: Gets the versions of installed packages that are named.
    """

    def __init__(self, stream: io.BytesIO, versions: dict[str, str]) -> None:
        super().__init__(stream, protocol=5)
        self._versions = versions

    def persistent_id(self, obj: Any) -> Any:
        """Texts and sets: whether equal texts are one object, and how sets are ordered, differs between processes."""
        if type(obj) is str:
            text = obj.encode("utf-8", "surrogatepass")
            return (text, _sha256(Path(obj))) if os.path.isfile(obj) else text
        if type(obj) in (set, frozenset):
            return sorted(self._alone(element) for element in obj)
        return None

    def reducer_override(self, obj: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(obj, torch.Tensor):  # whose pickle holds an address
            flat = obj.detach().cpu().contiguous().reshape(-1)
            values = flat.view(torch.uint8).numpy().tobytes()
            return tuple, ((str(obj.dtype), tuple(obj.shape), values),)
        if isinstance(obj, PurePath):
            return str, (os.fspath(obj),)
        if isinstance(obj, ModuleType) and not _is_users(obj.__name__):
            return str, (obj.__name__,)
        if isinstance(obj, MethodType):
            return _stub, (obj.__func__, obj.__self__)
        if isinstance(obj, (staticmethod, classmethod)):
            return type(obj), (obj.__func__,)
        if isinstance(obj, property):
            return property, (obj.fget, obj.fset, obj.fdel)
        if isinstance(obj, functools.cached_property):
            return functools.cached_property, (obj.func,)
        module = getattr(obj, "__module__", None) or type(obj).__module__
        if not _is_users(module):
            root = _root(module)
            if root not in LIBRARY:
                self._versions[root] = str(getattr(sys.modules.get(root), "__version__", ""))
            return NotImplemented
        if isinstance(obj, FunctionType):
            return _stub, (), _function(obj)
        if isinstance(obj, type):
            kept = {key: value for key, value in vars(obj).items() if key not in _IDLE}
            return _stub, (), (type(obj), obj.__bases__, kept)
        if isinstance(obj, Dispatcher):
            return _stub, (obj.py_func, str(obj.targetoptions))
        if isinstance(obj, functools._lru_cache_wrapper):
            return _stub, (obj.__wrapped__,)
        if isinstance(obj.__reduce_ex__(5), str):
            raise TypeError(f"{obj!r} is known by its name alone")
        return NotImplemented

    def _alone(self, obj: Any) -> bytes:
        stream = io.BytesIO()
        _ByContent(stream, self._versions).dump(obj)
        return stream.getvalue()


def _stub() -> None:
    """Stands for a function or a class in what is written."""


def _root(module: str) -> str:
    return module.partition(".")[0]


def _is_users(module: str) -> bool:
    """Whether a module is neither the library's nor an installed one, so that no version stands for its code."""
    root = _root(module)
    if root in sys.stdlib_module_names or root in LIBRARY:
        return False
    try:
        spec = importlib.util.find_spec(root)
    except ValueError:  # __main__
        return True
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return not any(re.search(r"[\\/](site|dist)-packages[\\/]", place) for place in places)


def _function(function: FunctionType) -> Any:
    """What a function does: its code, and what that starts from."""
    code = function.__code__
    return {
        "code": _code(code),
        "files": [text for text in _constants(code) if os.path.isfile(text)],
        "defaults": (function.__defaults__, function.__kwdefaults__),
        "closure": [cell.cell_contents for cell in function.__closure__ or ()],
        "attributes": vars(function),
        "globals": _mentioned(_names(code), function.__globals__, set()),
    }


def _code(code: CodeType) -> str:
    """Compiled code as text, without the places in its file."""
    parts = [
        code.co_code,
        code.co_exceptiontable,
        code.co_flags,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
    ]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            parts.append(_code(constant))
        else:
            parts.append(
                sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)
            )
    return repr(parts)


def _inner(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inner(constant)


def _constants(code: CodeType) -> list[str]:
    return [text for one in _inner(code) for text in one.co_consts if isinstance(text, str)]


def _names(code: CodeType) -> set[str]:
    """The names that code mentions.

    Raises:
        TypeError: It imports the user's modules when it runs.
    """
    for one in _inner(code):
        steps = list(dis.get_instructions(one))
        for k, step in enumerate(steps):
            # Two steps before it is told how many packages up the import starts.
            if step.opname == "IMPORT_NAME" and (steps[k - 2].argval or _is_users(step.argval)):
                raise TypeError(f"{one.co_name} imports {step.argval!r}")
    return {name for one in _inner(code) for name in one.co_names}


def _mentioned(names: set[str], namespace: Mapping[str, Any], seen: set[str]) -> dict[str, Any]:
    """What names stand for, in a module and in the user's modules that are mentioned there."""
    found = {}
    for name in sorted(names & namespace.keys()):
        value = namespace[name]
        if not isinstance(value, ModuleType):
            found[name] = value
        elif not _is_users(value.__name__):
            found[name] = value.__name__
        elif value.__name__ not in seen:
            seen.add(value.__name__)
            found[name] = _mentioned(names, vars(value), seen)
    return found
