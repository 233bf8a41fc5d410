# SPDX-License-Identifier: MIT
suite='make -k tests'
prepare()
{
	./configure --without-bash-malloc --disable-nls && make -j2 && make -j2 recho zecho printenv xcase
}
# Each script's result is the difference that it prints, but for process ids.
results()
{
	awk '/^run-/ { name = $1; seen[name] = ""; next }
		name != "" && !/^make|^exit status/ { seen[name] = seen[name] $0 "\n" }
		END { for (name in seen) print name "\t" seen[name] }' ORS='\0' |
		while IFS=$'\t' read -r -d '' name text; do
			if [ -z "$text" ]; then echo "PASS $name"; else
				echo "$(printf %s "$text" | sed -E 's/[0-9]{3,}/N/g' | md5sum | cut -c1-12) $name"; fi
		done
}
