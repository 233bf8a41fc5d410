# SPDX-License-Identifier: MIT
"""A plugin of pytest: each test is a region, called as pytest calls it.

    PYTHONPATH=/usr/local/share/cachepeek cachepeek python3 -m pytest -p cachepeek_pytest

Fixtures are not counted with it.  In a test that uses pytest-benchmark's `benchmark`, each of
its rounds is one execution of the region "benchmark" inside.  Without the preloaded library
nothing of this happens.
"""
import cachepeek
import pytest


def pytest_report_header():
    return "cachepeek: each test is a region" if cachepeek.active() else None


def _mark_rounds(fixture):
    """pytest-benchmark measures with what this makes of the function: a round of it."""
    make_runner = fixture._make_runner

    def make_marked(*args, **kwargs):
        return cachepeek.region("benchmark")(make_runner(*args, **kwargs))

    fixture._make_runner = make_marked


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    benchmark = getattr(item, "funcargs", {}).get("benchmark")
    if cachepeek.active() and hasattr(benchmark, "_make_runner"):
        _mark_rounds(benchmark)
    with cachepeek.region(item.nodeid):
        yield
