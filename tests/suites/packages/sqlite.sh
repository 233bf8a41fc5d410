# SPDX-License-Identifier: MIT
package=sqlite3
limit=1800
# As another user /dev/stdout cannot be opened.
suite='./testfixture test/veryquick.test --verbose=file --output=results.txt
status=$?; cat results.txt; exit $status'
prepare()
{
	./configure --with-tcl=/usr/lib/tcl8.6 --disable-shared && make -j2 testfixture sqlite3
}
results()
{
	sed -nE 's/^([A-Za-z0-9_.:,()=-]+)\.\.\. Ok$/PASS \1/p; s/^! ?([^ ]+) (expected|got).*/FAIL \1/p; s/^([^ ]+)\.\.\. Omitted.*/SKIP \1/p'
}
