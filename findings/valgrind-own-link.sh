#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.27.1: /proc/self/exe of a program that is started by a link to a link is the first
# link's target, and of one by a relative link that target in the working directory: what ld.so
# makes of $ORIGIN is not where the program is (java, by Debian's alternatives, does not start).
# Seen: the file by one link, "one" by a link to that, "../own" by a link in another folder.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.27.1-0.2
cp "$(command -v readlink)" own
mkdir folder
ln -s own one
ln -s one two
ln -s ../own folder/link
# own_link PATH: from the folder of the files
own_link()
{
	valgrind -q --tool=none "$1" /proc/self/exe
}
same "without us" "$work/own" "$(./two /proc/self/exe)"
same "by a link" "$work/own" "$(own_link ./one)"
same "by a link to a link" "$work/one" "$(own_link ./two)"
same "by a link in another folder" "$work/../own" "$(own_link folder/link)"
