# SPDX-License-Identifier: MIT
# A folder with a Debian of its own, for the scripts that source this first, as root.  What is mounted
# there is so in a mount namespace of the script: it is gone when the script ends, however it does, and
# whoever removes the folder removes nothing of this machine's /dev.
if [ -z "${FOLDER_APART:-}" ]; then
	FOLDER_APART=1 exec unshare --mount --propagation private bash "$0" "$@"
fi
unset FOLDER_APART
source=$(realpath "$(dirname "$0")/..")

# folder SUITE DIRECTORY MIRROR PACKAGES: makes it, or goes on with one that was made; sets root.
folder()
{
	local suite=$1 mirror=$3 packages=$4 script=
	mkdir -p "$2"
	root=$(realpath "$2")
	command -v debootstrap > /dev/null || apt-get install -q -y --no-install-recommends debootstrap
	if [ ! -e "$root/.bare-made" ]; then
		# A release that is newer than debootstrap is made as unstable is.
		[ -e "/usr/share/debootstrap/scripts/$suite" ] || script=sid
		debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror" $script || {
			echo "${0##*/}: no folder with $suite: debootstrap has failed, whose archive must be reached" >&2
			return 1
		}
		# Nothing here has to outlive a loss of power; the settings of apt that are copied stay.
		printf "force-unsafe-io\nforce-confold\n" > "$root/etc/dpkg/dpkg.cfg.d/folder"
		touch "$root/.bare-made"
	fi
	# The folder asks for packages the way this machine does.
	cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2> /dev/null || true
	cp /etc/resolv.conf "$root/etc/resolv.conf" 2> /dev/null || true
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	mount --rbind /dev "$root/dev"
}

# The committed tree, where only root goes: /root is closed to others.
clone_into_folder()
{
	rm -rf "$root/root/cachepeek"
	git clone -q "$source" "$root/root/cachepeek"
	chmod 0700 "$root/root"
}

in_root()
{
	chroot "$root" env -i HOME="${folder_home:-/root}" TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"
}
without_network()
{
	unshare --net chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

failed=0
try()
{
	local begin=$SECONDS
	echo "=== $*"
	"$@" || { failed=$((failed + 1)); echo "=== failed: $*"; }
	echo "=== $((SECONDS - begin)) s"
}
