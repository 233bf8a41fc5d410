#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reports of a fleet as one table, and what became worse in it.

    CACHEPEEK_OUTPUT=/fleet/v1/%h-%p.json LD_PRELOAD=libcachepeek.so ./app   # on each host
    fleet.py collect fleet.sqlite /fleet/*/*.json
    fleet.py worse fleet.sqlite v1 v2 --metric l1d_mpki

A report's label is the name of its directory: v1, v2.  The table goes into SQLite, which
Python brings, or into a file that ends in .parquet, which DuckDB writes (or pandas with
pyarrow) and reads.  Reports are read one at a time, and those that cannot be read are named.
"""
import argparse
import json
import os
import sqlite3
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), place)
                for place in ("../../../cachepeek", "../output")]
import cachepeek_report  # noqa: E402

COLUMNS = ("label", "host", "command", "version", "engine", "machine", "region", "kind", "name",
           "value", "status", "reason")

# Runs in SQLite and in DuckDB.  What is unavailable has no value, and no part in a mean.
WORSE = """
SELECT region, host, before, after, 100 * (after / before - 1) AS percent, runs
FROM (SELECT region, host,
             avg(CASE WHEN label = ? THEN value END) AS before,
             avg(CASE WHEN label = ? THEN value END) AS after,
             count(value) AS runs
      FROM fleet WHERE name = ? GROUP BY region, host) AS sides
WHERE before > 0 AND after > before * (1 + ? / 100.0)
ORDER BY percent DESC, region, host
"""


def rows(path):
    """The rows of one report: counts and metrics of the whole run and of each region."""
    label = os.path.basename(os.path.dirname(os.path.abspath(path)))
    report = cachepeek_report.load(path)
    _, document = report.documents[0]
    of = (label, document["machine"].get("host"), " ".join(document["command"]), document["cachepeek"],
          document["engine"]["name"], document["machine"]["description"])
    for region in document["regions"]:
        for kind in ("counts", "metrics"):
            for name, value in region.get(kind, {}).items():
                yield of + ("/".join(region["path"]), kind[:-1], name, value["value"], value["status"],
                            value["reason"])


def each(paths):
    """The rows of all reports that can be read."""
    bad = 0
    for path in paths:
        try:
            yield from list(rows(path))
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"fleet.py: {path}: left out: {error}", file=sys.stderr)
            bad += 1
    if bad:
        print(f"fleet.py: {bad} of {len(paths)} reports are left out", file=sys.stderr)


def collect_sqlite(into, paths):
    """Two tables, because all rows of a report say the same of it, and `fleet` over both."""
    of, values = COLUMNS[:6], COLUMNS[6:]
    with sqlite3.connect(into) as table:
        for name in ("fleet", "report", "measured"):
            kind = "VIEW" if name == "fleet" else "TABLE"
            table.execute(f"DROP {kind} IF EXISTS {name}")
        table.execute(f"CREATE TABLE report (id INTEGER PRIMARY KEY, {', '.join(of)}, UNIQUE ({', '.join(of)}))")
        table.execute(f"CREATE TABLE measured (report INTEGER, {', '.join(values)})")
        ids = {}
        for row in each(paths):
            if row[:6] not in ids:
                ids[row[:6]] = len(ids)
                table.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?, ?, ?)", (ids[row[:6]],) + row[:6])
            table.execute("INSERT INTO measured VALUES (?, ?, ?, ?, ?, ?, ?)", (ids[row[:6]],) + row[6:])
        table.execute("CREATE INDEX measured_name ON measured (name)")
        table.execute(f"CREATE VIEW fleet AS SELECT {', '.join(COLUMNS)} FROM measured JOIN report ON report = id")
        return table.execute("SELECT count(*) FROM measured").fetchone()[0]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def collect_duckdb(duckdb, into, paths):
    """Through lines of JSON, so that memory does not grow with the fleet."""
    count = 0
    with tempfile.NamedTemporaryFile("w", suffix=".json") as lines:
        for count, row in enumerate(each(paths), 1):
            lines.write(json.dumps(dict(zip(COLUMNS, row))) + "\n")
        lines.flush()
        types = ", ".join(f"{name}: '{'DOUBLE' if name == 'value' else 'VARCHAR'}'" for name in COLUMNS)
        duckdb.connect().execute(f"COPY (SELECT * FROM read_json({quoted(lines.name)}, format = 'newline_delimited', "
                                 f"columns = {{{types}}})) TO {quoted(into)} (FORMAT parquet)")
    return count


def collect_pandas(into, paths):
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        sys.exit(f"fleet.py: {into}: Parquet takes duckdb, or pandas and pyarrow: install one of them, "
                 "or name a file that ends in .sqlite")
    frame = pandas.DataFrame(each(paths), columns=COLUMNS)
    frame["value"] = frame["value"].astype(float)
    frame.to_parquet(into)
    return len(frame)


def collect_parquet(into, paths):
    try:
        import duckdb
    except ImportError:
        return collect_pandas(into, paths)
    return collect_duckdb(duckdb, into, paths)


def ask(table, question, values):
    if not table.endswith(".parquet"):
        if not os.path.exists(table):
            sys.exit(f"fleet.py: {table}: there is no such file: `fleet.py collect` makes it")
        return sqlite3.connect(table).execute(question, values).fetchall()
    try:
        import duckdb
    except ImportError as error:
        sys.exit(f"fleet.py: {table}: {error}: install duckdb, or collect into a file that ends in .sqlite")
    asked = duckdb.connect()
    asked.execute(f"CREATE VIEW fleet AS SELECT * FROM read_parquet({quoted(table)})")
    return asked.execute(question, values).fetchall()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="do", required=True)
    collect = commands.add_parser("collect", help="make the table of reports")
    collect.add_argument("table", help="FILE.sqlite or FILE.parquet")
    collect.add_argument("reports", nargs="+", help="JSON reports")
    worse = commands.add_parser("worse", help="list what is worse under one label than under another")
    worse.add_argument("table")
    worse.add_argument("before")
    worse.add_argument("after")
    worse.add_argument("--metric", default="l1d_mpki", help="a metric or a count (default: l1d_mpki)")
    worse.add_argument("--percent", type=float, default=1, help="by more than so much (default: 1)")
    worse.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.do == "collect":
        make = collect_parquet if given.table.endswith(".parquet") else collect_sqlite
        print(f"{make(given.table, given.reports)} rows of {len(given.reports)} reports")
        return 0
    found = ask(given.table, WORSE, (given.before, given.after, given.metric, given.percent))
    if given.json:
        print(json.dumps([dict(zip(("region", "host", "before", "after", "percent", "runs"), row)) for row in found]))
    else:
        print(f"{'region':24} {'host':20} {given.before:>12} {given.after:>12} {'change':>9} runs")
        for region, host, before, after, percent, runs in found:
            print(f"{region or '(whole run)':24} {host or '':20} {before:12.4g} {after:12.4g} {percent:+8.2f}% {runs:4}")
    return 3 if found else 0


if __name__ == "__main__":
    sys.exit(main())
