#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of the HTML report: prints what stands before the report, or after
# it.  The style, the chart library and the script are put in.
#	tools/page.sh head|tail HTML_DIRECTORY CHART_LIBRARY
set -eu
part=$1 directory=$2 chart=$3

if grep -qi '</script' "$chart" "$directory/report.js"; then
	echo "page.sh: a script holds </script, which would end it" >&2
	exit 1
fi

file_of()
{
	case $1 in
	@STYLE@) echo "$directory/style.css" ;;
	@CHART@) echo "$chart" ;;
	@SCRIPT@) echo "$directory/report.js" ;;
	esac
}

now=head
while IFS= read -r line; do
	case $line in
	@REPORT@) now=tail; continue ;;
	esac
	[ $now = "$part" ] || continue
	case $line in
	@*@) cat "$(file_of "$line")" ;;
	*) printf '%s\n' "$line" ;;
	esac
done < "$directory/page.html"
