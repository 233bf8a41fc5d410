#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost to a browser of opening a page: of 10,000 regions, and of a profile of python3,
# each beside a page that has the same bytes and does nothing with them, in turn.  CPU time of
# the page's main thread, and the wall clock to its load event; medians.  Needs
# chromium-driver and python3-selenium.
#	tests/bench/pages.sh [ROUNDS]
set -eu
build=${B:-build}
here=$(realpath "$(dirname "$0")")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
if ! command -v chromedriver > /dev/null || ! /usr/bin/python3 -c 'import selenium' 2> /dev/null; then
	echo 'pages: no chromium-driver and python3-selenium'
	exit 0
fi
cachepeek=$(realpath "$build/cachepeek")
"$cachepeek" -E sim -g cache -o "$home/regions.html" "$build/tests/programs/many_regions" 10000 > /dev/null
"$cachepeek" dcache -m zen3 --call-paths -o "$home/python3.html" /usr/bin/python3 -c 'import json, re
d = {str(i): [i, {"k": "v%d" % i}] for i in range(2000)}
json.loads(json.dumps(d))' > /dev/null
PYTHONPATH=$here/../browser /usr/bin/python3 "$here/pages.py" "${1:-7}" "$home/regions.html" "$home/python3.html"
