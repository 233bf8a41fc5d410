# SPDX-License-Identifier: MIT
limit=1800
suite='make test'
prepare()
{
	./Configure linux-x86_64 && make -j2 build_sw && make -j2 build_programs
}
results()
{
	sed -nE 's/^([0-9]{2}-test_[a-z0-9_]+\.t) \.+ (ok|skipped|.*)$/\2 \1/p' | sed -E 's/^skipped:? .* ([^ ]+)$/skipped \1/; s/^(Failed|Dubious).* ([^ ]+)$/FAIL \2/'
}
