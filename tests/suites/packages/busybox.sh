# SPDX-License-Identifier: MIT
suite='cd testsuite && bindir=.. ./runtest -v'
prepare()
{
	make defconfig && make -j2
}
results()
{
	sed -nE 's/^(PASS|FAIL|SKIPPED|UNTESTED): */\1 /p'
}
