# SPDX-License-Identifier: MIT
package=libuv1
suite='./uv_run_tests_a'
prepare()
{
	cmake -DBUILD_TESTING=ON . && make -j2 uv_run_tests_a
}
results()
{
	sed -nE 's/^(ok|not ok) [0-9]+ - ([^ ]+)( # SKIP)?.*/\1\3 \2/p' | sed 's/^not ok/not-ok/; s/^ok # SKIP/skip/'
}
