#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints an assembler file that holds the given data files as the table
# cp_embedded_files of base/embedded.h.  (.incbin, because a C string literal
# would need escaping and xxd is not installed everywhere.)
set -eu
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
echo '	.globl cp_embedded_files'
echo '	.hidden cp_embedded_files'
echo '	.type cp_embedded_files, %object'
echo 'cp_embedded_files:'
i=0
while [ $i -lt $n ]; do
	echo "	.dc.a .Lname$i, .Ltext$i"
	i=$((i + 1))
done
echo '	.dc.a 0, 0'
echo '	.size cp_embedded_files, . - cp_embedded_files'
echo '	.section .note.GNU-stack,"",%progbits'
