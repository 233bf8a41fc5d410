# SPDX-License-Identifier: MIT
limit=1800
suite='cd tests && perl runtests.pl -a -n -am 1 to 400'
prepare()
{
	./configure --disable-dependency-tracking --with-openssl --without-libpsl --disable-shared && make -j2 && make -j2 -C tests
}
results()
{
	sed -nE 's/^(PASS|FAIL|SKIP): *([0-9]+).*/\1 \2/p'
}
