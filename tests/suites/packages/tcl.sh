# SPDX-License-Identifier: MIT
package=tcl8.6
suite='make -C unix test TESTFLAGS="-verbose pbes"'
prepare()
{
	cd unix && ./configure && make -j2 && make -j2 tcltest
}
results()
{
	sed -nE 's/^\+\+\+\+ ([^ ]+) (PASSED|SKIPPED).*/\2 \1/p; s/^==== ([^ ]+) .*FAILED$/FAILED \1/p'
}
