# SPDX-License-Identifier: MIT
limit=1800
suite='cd t && ./perl TEST -v op/*.t io/*.t'
prepare()
{
	./Configure -des -Dprefix=/usr/local && make -j2 test_prep
}
# Each line of TAP, under its file's name; numbers tell tests of one name apart.
results()
{
	awk '/^t?\/?[a-z]+\/[A-Za-z0-9_]+ \.+/ { file = $1 }
		/^(not )?ok [0-9]+/ {
			outcome = $1; number = $2
			if ($1 == "not") { outcome = "not-ok"; number = $3 }
			print outcome, file "-" number
		}'
}
