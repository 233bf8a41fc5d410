# SPDX-License-Identifier: MIT
#
# Fetching and building Debian's source packages, for the scripts here.  Read by bash.
# $work keeps the lists of packages.  build() is for one $name: of $package, built by
# prepare() in $top/built, once.

# The sources are where this system's packages come from.
sources_list()
{
	local uri
	uri=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -n 1)
	[ -n "$uri" ] || uri=$(awk '$1 == "deb" { for (i = 2; i < NF; i++) if ($i ~ /^https?:/) { print $i; exit } }' \
		/etc/apt/sources.list 2> /dev/null)
	. /etc/os-release
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $VERSION_CODENAME main"
}

sources()
{
	apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/parts" \
		-o Dir::State::Lists="$work/apt/lists" -o APT::Sandbox::User= "$@"
}

update_lists()
{
	[ ! -e "$work/apt/parts/source.list" ] || return 0
	mkdir -p "$work/apt/lists/partial" "$work/apt/parts"
	sources_list > "$work/apt/new.list"
	cp "$work/apt/new.list" "$work/apt/parts/source.list"
	sources update > "$work/apt/log" 2>&1 || rm "$work/apt/parts/source.list"
}

# Only the authors' own archive is unpacked: Debian's patches are not needed.
fetch()
{
	update_lists
	mkdir -p "$top/fetched" "$top/built"
	(cd "$top/fetched" && sources source --download-only "$package") > "$top/fetch.log" 2>&1 &&
		tar -xf "$(ls "$top"/fetched/*.orig.tar.[gxb]z* | grep -v '\.asc$' | head -n 1)" \
			-C "$top/built" --strip-components=1
}

# Where the suite runs is where it was built.
build()
{
	[ ! -e "$top/ready" ] || return 0
	rm -rf "$top/built" "$top/source"
	fetch || { echo "$name: no source of $package here: $(tail -n 1 "$top/fetch.log")"; return 1; }
	mv "$top/built" "$top/source"
	(cd "$top/source" && prepare) > "$top/build.log" 2>&1 < /dev/null ||
		{ echo "$name: does not build here: $(tail -n 1 "$top/build.log")"; return 1; }
	[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$top/source"
	mv "$top/source" "$top/built"
	touch "$top/ready"
}
