# SPDX-License-Identifier: MIT
"""libcachepeek's region markers for Python.

    import cachepeek

    with cachepeek.region("solve"):
        ...

    @cachepeek.region            # or @cachepeek.region("name")
    def solve():
        ...

Without the preloaded library everything here does nothing.  Regions belong to
the thread that enters them; a generator or coroutine that is left in between
is not a region (use begin and end, or a region inside it).
"""
import ctypes as _ctypes
import errno as _errno
import functools as _functools
import inspect as _inspect

__all__ = ["active", "begin", "end", "flush", "load", "pause", "read", "region", "resume"]
__version__ = "@VERSION@"


class _Api(_ctypes.Structure):
    """struct cachepeek_api of cachepeek.h"""

    _fields_ = [
        ("size", _ctypes.c_size_t),
        ("region_register", _ctypes.CFUNCTYPE(_ctypes.c_void_p, _ctypes.c_char_p)),
        ("begin", _ctypes.CFUNCTYPE(None, _ctypes.c_void_p)),
        ("end", _ctypes.CFUNCTYPE(None, _ctypes.c_void_p)),
        ("read", _ctypes.CFUNCTYPE(_ctypes.c_int, _ctypes.c_char_p,
                                   _ctypes.POINTER(_ctypes.c_uint64))),
        ("pause", _ctypes.CFUNCTYPE(None)),
        ("resume", _ctypes.CFUNCTYPE(None)),
        ("flush", _ctypes.CFUNCTYPE(None)),
    ]


def _find():
    try:
        api = _Api.in_dll(_ctypes.CDLL(None), "cachepeek_api_1")
    except (OSError, TypeError, ValueError):
        return None
    return api if api.size >= _ctypes.sizeof(_Api) else None


_api = _find()
_handles = {}


def load(*files):
    """The tables of JSON reports: see cachepeek_report.py, which lies beside this file."""
    import cachepeek_report
    return cachepeek_report.load(*files)


def active():
    """Is the library preloaded?"""
    return _api is not None


def _handle(name):
    handle = _handles.get(name)
    if handle is None:
        text = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else bytes(name)
        handle = _handles[name] = _api.region_register(text)
    return handle


def begin(name):
    if _api:
        _api.begin(_handle(name))


def end(name):
    if _api:
        _api.end(_handle(name))


def read(quantity):
    """The calling thread's count so far; OSError says why there is none."""
    value = _ctypes.c_uint64()
    result = -_errno.ENOSYS
    if _api:
        result = _api.read(quantity.encode(), _ctypes.byref(value))
    if result < 0:
        raise OSError(-result, _errno.errorcode.get(-result, "error"), quantity)
    return value.value


def pause():
    if _api:
        _api.pause()


def resume():
    if _api:
        _api.resume()


def flush():
    if _api:
        _api.flush()


class region:
    """A context manager and a decorator; may be used again and nested."""

    def __new__(cls, name):
        if callable(name):
            return cls(getattr(name, "__qualname__", repr(name)))(name)
        return super().__new__(cls)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        begin(self.name)
        return self

    def __exit__(self, *exception):
        end(self.name)
        return False

    def __call__(self, function):
        if _inspect.iscoroutinefunction(function) or _inspect.isgeneratorfunction(function):
            raise TypeError("a generator or coroutine cannot be a region: it is left in between")
        if not _api:
            return function

        @_functools.wraps(function)
        def marked(*args, **kwargs):
            begin(self.name)
            try:
                return function(*args, **kwargs)
            finally:
                end(self.name)

        return marked
