# SPDX-License-Identifier: MIT
suite='make -k check'
engines='perf sim'
prepare()
{
	./configure && make -j2 && make -k check
}
# "*** zlib test OK ***", and what examples print.
results()
{
	sed -nE 's/^[[:space:]]*\*\*\* (.*) test (OK|FAILED).*/\2 \1/p; s/^([a-z0-9 (),_+-]+): (.*)$/ok \1 \2/p'
}
