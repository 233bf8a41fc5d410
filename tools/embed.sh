#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh [-b DIRECTORY] FILE...
# Prints an assembler file that holds the given data files as the table $TABLE
# (cp_embedded_files) of base/embedded.h's structure.  (.incbin, because a C string literal
# would need escaping and xxd is not installed everywhere.)  With -b, of copies in that
# directory without comments, and without what presets mean, which only reports say.
set -eu
if [ "${1-}" = -b ]; then
	bare=$2
	shift 2
	mkdir -p "$bare"
	for file in "$@"; do
		shift
		sed '/^#/d; s/^\(@doc  *[^ ]*\) .*/\1/' "$file" > "$bare/$(basename "$file")"
		set -- "$@" "$bare/$(basename "$file")"
	done
fi
table=${TABLE:-cp_embedded_files}
for file in "$@"; do
	case $file in
	*.js)
		if grep -qi '</script' "$file"; then
			echo "embed.sh: $file holds </script, which would end it in a page" >&2
			exit 1
		fi ;;
	esac
done
echo '	.section .rodata'
n=0
for file in "$@"; do
	echo ".Lname$n:	.asciz \"$(basename "$file")\""
	echo ".Ltext$n:	.incbin \"$file\""
	echo '	.byte 0'
	n=$((n + 1))
done
echo '	.section .data.rel.ro,"aw"'
echo '	.balign 8'
echo "	.globl $table"
echo "	.hidden $table"
echo "	.type $table, %object"
echo "$table:"
i=0
while [ $i -lt $n ]; do
	echo "	.dc.a .Lname$i, .Ltext$i"
	i=$((i + 1))
done
echo '	.dc.a 0, 0'
echo "	.size $table, . - $table"
echo '	.section .note.GNU-stack,"",%progbits'
