# SPDX-License-Identifier: MIT
"""Reads the JSON reports of libcachepeek into tables.

    import cachepeek

    report = cachepeek.load("run.json")          # or several, or a pattern
    report.metrics                               # data frames, where pandas is
    report.counts.query("region == 'solve'")

Without pandas a table is a list of dictionaries.  A value that is unavailable is None,
never 0, and its reason stands beside it.
"""
import glob as _glob
import json as _json

SCHEMA = "cachepeek-report/1"

__all__ = ["Report", "load"]


def _table(rows, columns):
    """A data frame of these columns, or a list of dictionaries with them."""
    try:
        import pandas
    except ImportError:
        return [{column: row.get(column) for column in columns} for row in rows]
    return pandas.DataFrame(rows, columns=columns)


def _region_name(path):
    return "/".join(path)


def _regions(document):
    """(where, region) for the whole run, and for each thread."""
    for region in document["regions"]:
        yield {"rank": None, "pid": None, "tid": None}, region
    for process in document.get("processes", []):
        for thread in process.get("threads", []):
            where = {"rank": process.get("rank"), "pid": process["pid"], "tid": thread["tid"]}
            for region in thread.get("regions", []):
                yield where, region


def _node(region, name):
    metrics = {}
    for count, value in region["counts"].items():
        for key, kept in (("exclusive", count), ("value", count + " (inc)")):
            if value.get(key) is not None:
                metrics[kept] = value[key]
    if region["time_s"]["value"] is not None:
        metrics["time (inc)"] = region["time_s"]["value"]
    return {"frame": {"name": name, "type": "region"}, "metrics": metrics, "children": []}


def _tree(document):
    """Regions come after those that they are inside."""
    command = document["command"]
    nodes = {}
    for region in document["regions"]:
        path = tuple(region["path"])
        nodes[path] = _node(region, path[-1] if path else " ".join(command))
        if path:
            nodes[next(path[:i] for i in reversed(range(len(path))) if path[:i] in nodes)][
                "children"].append(nodes[path])
    return nodes[()]


class Report:
    """The tables of one report, or of several: then `file` tells them apart."""

    _of = ["file", "host", "command", "version", "engine", "machine"]
    _at = ["rank", "pid", "tid", "region"]

    def __init__(self, documents):
        self.documents = documents  # (file, decoded JSON)

    def _rows(self, key, threads):
        for file, document in self.documents:
            of = {
                "file": file,
                "host": document["machine"].get("host"),
                "command": " ".join(document["command"]),
                "version": document["cachepeek"],
                "engine": document["engine"]["name"],
                "machine": document["machine"]["description"],
            }
            for where, region in _regions(document):
                if (where["tid"] is not None) == threads:
                    yield {**of, **where, "region": _region_name(region["path"])}, region

    def _values(self, key, columns, threads=False):
        rows = []
        for at, region in self._rows(key, threads):
            for name, value in region.get(key, {}).items():
                rows.append({**at, "name": name, **value})
        return _table(rows, self._of + self._at + ["name"] + columns)

    @property
    def regions(self):
        """A row for each region of each run: calls and seconds."""
        rows = []
        for at, region in self._rows("regions", False):
            rows.append({**at, "calls": region["calls"],
                         "seconds": region["time_s"]["value"], "status": region["time_s"]["status"]})
        return _table(rows, self._of + ["region", "calls", "seconds", "status"])

    @property
    def counts(self):
        """A row for each count of each region."""
        return self._values("counts", ["value", "exclusive", "status", "coverage", "error", "reason",
                                       "min", "max", "mean"])

    @property
    def thread_counts(self):
        """The same of each thread."""
        return self._values("counts", ["value", "exclusive", "status", "coverage", "error", "reason"], True)

    @property
    def metrics(self):
        """A row for each metric of each region."""
        return self._values("metrics", ["value", "unit", "status", "error", "reason", "min", "max", "mean"])

    def literal(self):
        """The regions as a tree of Hatchet's literal format, a root for each report.

        A count's own name is what belongs to the region alone, and with " (inc)" behind it
        what it has with those inside, as Hatchet calls them; what is unavailable is not there.
        """
        return [_tree(document) for _, document in self.documents]

    def to_hatchet(self):
        """A hatchet.GraphFrame of the regions."""
        import hatchet
        return hatchet.GraphFrame.from_literal(self.literal())

    @property
    def warnings(self):
        return [warning for _, document in self.documents for warning in document["warnings"]]


def _read(file):
    with open(file, encoding="utf-8") as stream:
        document = _json.load(stream)
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise ValueError("%s is no report of a run (schema: %s): write one with -o report.json"
                         % (file, schema or "none"))
    return document


def load(*files):
    """The report of a file, or one of several files or patterns (fleet/*.json)."""
    names = []
    for name in files:
        found = sorted(_glob.glob(name)) if _glob.has_magic(name) else [name]
        if not found:
            raise FileNotFoundError("no file is called %s" % name)
        names += found
    return Report([(name, _read(name)) for name in names])
