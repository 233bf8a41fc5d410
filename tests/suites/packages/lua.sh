# SPDX-License-Identifier: MIT
# The sources of 5.1 are the last that have the authors' small programs.
package=lua5.1
engines='perf sim'
# Two of them print the time.
suite='for program in test/*.lua; do
	case $program in
	*/fib.lua | */printf.lua) number=N ;;
	*) number="&" ;;
	esac
	answer=$(src/lua "$program" 3 < test/README 2>&1)
	echo "status $? $(printf %s "$answer" | sed -E "s/[0-9][0-9.]*(e-[0-9]+)?/$number/g" | md5sum | cut -c1-12) $program"
done'
prepare()
{
	make -j2 linux MYLIBS= MYCFLAGS= || make -j2 posix
}
# Its output is its result.
results()
{
	sed -nE 's/^status ([0-9]+) ([0-9a-f]+) (.*)/\1:\2 \3/p'
}
