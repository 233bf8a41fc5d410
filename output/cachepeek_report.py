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
SCHEMAS = (SCHEMA, "cachepeek-report/2")  # of more than 1,000 regions: see filled_in()

__all__ = ["Report", "filled_in", "load"]


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


def _fill_in_calls(value, calls):
    """A value that is of no execution has none; else they are equal unless it says otherwise."""
    if value["value"] is None or not calls:
        return None
    each, rest = divmod(value["value"], calls)
    if rest:
        each = value["value"] / calls
    return {"min": each, "max": each, "mean": each, "stddev": 0}


def _fill_in_extent(value, at):
    """Over threads, of which one has it."""
    of = value["value"]
    value.update({"min": of, "max": of, "mean": of, "stddev": 0})
    if of > 0:
        value["imbalance"] = 1
    value.update({"min_at": at, "max_at": at})


def _fill_in_counts(counts, usual, calls):
    for name, value in counts.items():
        of = value["value"]
        counts[name] = value = {"value": of, "exclusive": of, **usual[name], **value}
        if value.get("scope", "") is None:
            del value["scope"]
        if "per_call" not in value:
            value["per_call"] = _fill_in_calls(value, calls)


def _fill_in_region(region, usual):
    region["time_s"] = {**usual["time_s"], **region["time_s"]}
    _fill_in_counts(region["counts"], usual["counts"], region["calls"])
    metrics, at = region["metrics"], region.pop("at", None)
    for name, value in metrics.items():
        metrics[name] = {**usual["metrics"][name], **value}
    if at:
        for value in (*region["counts"].values(), *metrics.values()):
            if value["value"] is not None and "min" not in value:
                _fill_in_extent(value, at)


_OVER_THREADS = ("min", "max", "mean", "stddev", "imbalance", "min_at", "max_at")


def _of_thread(region):
    """The region of the only thread, which has nothing over threads."""
    made = {key: part for key, part in region.items()
            if key not in ("threads", "ranks", "entered_by", "flags")}
    flags = [flag for flag in region.get("flags", []) if flag != "short"]
    if flags:
        made["flags"] = flags
    for kind in ("counts", "metrics"):
        made[kind] = {name: {key: part for key, part in value.items()
                             if key not in _OVER_THREADS}
                      for name, value in region[kind].items()}
    return made


def filled_in(document):
    """The document as cachepeek-report/1, whose values are complete, in place: with what
    values and threads of cachepeek-report/2 leave out since it is usual."""
    usual = document.pop("usual", None)
    if not usual:
        return document
    for region in document["regions"]:
        _fill_in_region(region, usual)
    for process in document["processes"]:
        for part in ("whole_process", "unattributed"):
            _fill_in_counts(process[part]["counts"], usual["counts"], 0)
        for thread in process["threads"]:
            for region in thread.get("regions", []):
                _fill_in_region(region, usual)
            if "regions" not in thread:
                thread["regions"] = [_of_thread(region) for region in document["regions"]]
    document["schema"] = SCHEMA
    return document


def _read(file):
    with open(file, encoding="utf-8") as stream:
        document = _json.load(stream)
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema not in SCHEMAS:
        raise ValueError("%s is no report of a run (schema: %s): write one with -o report.json"
                         % (file, schema or "none"))
    return filled_in(document)


def load(*files):
    """The report of a file, or one of several files or patterns (fleet/*.json)."""
    names = []
    for name in files:
        found = sorted(_glob.glob(name)) if _glob.has_magic(name) else [name]
        if not found:
            raise FileNotFoundError("no file is called %s" % name)
        names += found
    return Report([(name, _read(name)) for name in names])
