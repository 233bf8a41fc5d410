# SPDX-License-Identifier: MIT
suite='make -k -C test check'
# The manual is not in Debian's sources: without it `make` fails at the end.
prepare()
{
	./configure --disable-dependency-tracking --disable-nls && { make -j2 -k || test -x gawk; }
}
# A test says its name, and leaves _NAME if it failed.
results()
{
	sed -nE 's/^([A-Za-z0-9][A-Za-z0-9_.-]*)$/\1/p' | sort -u | while read -r test; do
		if [ -e "test/_$test" ]; then echo "FAIL $test"; else echo "PASS $test"; fi
	done
}
