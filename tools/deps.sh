#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that this tree needs and that are missing.
#
#	tools/deps.sh [GROUP…]          build, check, ci, release, vm, presets, suites, bench, real, deb
#	                                (default: build check)
#	tools/deps.sh --list [GROUP…]   prints the packages instead
#	tools/deps.sh --missing [GROUP…]
#	tools/deps.sh --libraries FILE…   prints the packages of the shared libraries that these need
#
# Uses apt-get as root or through sudo; where it may not, it prints what is
# missing and the command that installs it, and fails.  When nothing is
# missing it touches no network and needs no rights.
#
# A|B below is one package, by the names that it has in different releases: the first that apt
# knows is meant.  A|- is one that not every release has: what needs it is skipped there.
set -eu

# Needed by `make` and `make demo`: compiler, libpfm4, a reader of JSON, the parts of Valgrind
# that the simulated PMU is linked with, and the decoder (for x86-64) that tells it of
# instructions that Valgrind lacks, and the program of the demo.
build='gcc libc6-dev make binutils libpfm4-dev libjansson-dev uthash-dev valgrind gzip libjs-chart.js
	libdw-dev libelf-dev libcapstone-dev libiberty-dev libzydis-dev zlib1g-dev'
# Run by `make check`: prove, a fast reader of JSON, the programs under test.
check='perl libcpanel-json-xs-perl g++ libgomp1 libbsd0 libc6-dbg util-linux procps gzip xz-utils bash sqlite3 python3 python3-greenlet openssl busybox groff-base
	libjemalloc2 libmimalloc-dev libfaketime luajit wordplay strace musl-tools pkg-config python3-jsonschema e2fsprogs'
# Needed by .ci/run only: second compiler, cross compilers, formatter, node, and
# readers of our reports (promtool, whose package starts a server; a browser), a marker
# of regions for another tool, and an emulator of processors that lack AVX-512.
# Layout and findings of lint are those of LLVM 14: there is no lint with another.
ci='debootstrap clang libclang-rt-14-dev|libclang-rt-dev clang-format-14|- clang-tidy-14|- cppcheck llvm-14|llvm gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	gcc-riscv64-linux-gnu libc6-dev-riscv64-cross nodejs
	gfortran libomp-14-dev|libomp-dev openmpi-bin libopenmpi-dev mpich libmpich-dev python3-mpi4py libbenchmark-dev libgtest-dev catch2 python3-pytest python3-pytest-benchmark python3-pandas python3-nbconvert python3-ipykernel numactl likwid libpapi-dev libtrilinos-kokkos-dev|- prometheus chromium chromium-driver python3-selenium npm zsh fish
	environment-modules nix-bin makepkg python3-yaml linux-perf prometheus-node-exporter qemu-user'
# Run by `make check-vm`: arm64 and riscv64 machines, and the compilers for them.
vm='qemu-system-arm gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross cpio gzip'

# Needed by .ci/run on the next release, beside build and check.
release='clang libclang-rt-14-dev|libclang-rt-dev libomp-14-dev|libomp-dev gfortran
	openmpi-bin libopenmpi-dev mpich libmpich-dev python3-mpi4py numactl'

# Compared with by `make bench`.
bench='libpapi-dev hpcc openmpi-bin uftrace'
# Run by `make check-presets`: the compilers for which libpfm4 has other PMUs.
presets='qemu-user gcc-i686-linux-gnu libc6-dev-i386-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross'

# Needed by `make check-suites`: builders of other people's programs, CPython's tests, and an
# emulator of an x86-64 with AVX-512.
suites='gcc make autoconf automake libtool ed bzip2 xz-utils cmake tcl-dev libssl-dev iproute2 util-linux libpython3.14-testsuite|libpython3.13-testsuite|libpython3.11-testsuite
	valgrind jq lz4 zstd mawk bc xxhash ffmpeg ruby libc6-dbg libopenblas-dev libsimdjson-dev python3-numpy
	bochs bochs-term bochsbios vgabios cpio clang cargo rustc librust-criterion-dev
	kcachegrind dbus-bin dbus-daemon stress-ng'

# Started, used and stopped by `make check-real`.
real='git nginx apache2-bin apache2-utils postgresql-15|postgresql redis-server redis-tools mariadb-server haproxy memcached dnsmasq-base lighttpd
	openssh-server openssh-client
	php-cli ruby default-jdk-headless libjna-java golang-go erlang-base gcc rustc ffmpeg imagemagick zstd xz-utils bzip2 make util-linux curl
	sbcl guile-3.0 chezscheme gambc|- luajit pypy3|- ocaml-nox ghc
	slurm-wlm munge openmpi-bin libopenmpi-dev mpich libmpich-dev'

# Run by `make deb`.
deb='build-essential debhelper dpkg-dev fakeroot lintian'

usage()
{
	sed -n '3,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

packages()
{
	for group in "$@"; do
		case $group in
		build) echo $build ;;
		check) echo $check ;;
		ci) echo $ci ;;
		release) echo $release ;;
		vm) echo $vm ;;
		presets) echo $presets ;;
		suites) echo $suites ;;
		bench) echo $bench ;;
		real) echo $real ;;
		deb) echo $deb ;;
		*) echo "deps.sh: no group '$group': build, check, ci, release, vm, presets, suites, bench, real or deb" >&2; exit 2 ;;
		esac
	done | tr ' ' '\n' | sort -u
}

# The names among these that apt can install, or has.
offered()
{
	[ $# -gt 0 ] || return 0
	apt-cache policy "$@" 2> /dev/null | sed -n '/^[^ ]/{s/:$//;h;}; /^  Candidate: [^(]/{g;p;}'
}

# A new container may have no lists of packages at all, so that apt knows what is installed only.
has_lists()
{
	apt-cache policy 2> /dev/null | grep -q ' Packages$'
}

# The name of each package in this release; on a system without apt, the first of its names.
named()
{
	words=$(packages "$@")
	known=$(offered $(printf '%s\n' "$words" | grep '|' | tr '|' ' ') | tr '\n' ' ')
	for word in $words; do
		chosen=${word%%|*}
		for name in $(echo "$word" | tr '|' ' '); do
			if [ "$name" = - ]; then
				! has_lists || chosen=
				break
			fi
			case " $known" in *" $name "*) chosen=$name; break ;; esac
		done
		[ -z "$chosen" ] || echo "$chosen"
		[ -n "$chosen" ] || [ $mode != install ] ||
			echo "deps.sh: this release has no ${word%%|*}: what needs it is skipped" >&2
	done
}

# npm comes with other makers' packages of node, too, which Debian's conflicts with.
is_installed()
{
	[ "$1" != npm ] || ! command -v npm > /dev/null || return 0
	case $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) in
	*' installed') return 0 ;;
	esac
	return 1
}

missing()
{
	for package in $(named "$@"); do
		is_installed "$package" || echo "$package"
	done
}

# Tests start servers themselves: none is started because its package is installed.
start_nothing()
{
	policy=/usr/sbin/policy-rc.d
	[ ! -e $policy ] || return 0
	trap '$sudo rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy > /dev/null
	$sudo chmod 755 $policy
}

# Lists of packages may be too old for the archive.
install()
{
	apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y"
	$apt install --no-install-recommends "$@" ||
		{ $apt update && $apt install --no-install-recommends "$@"; }
}

# As the package's books name a file that the loader may name by a link to its directory.
libraries()
{
	for library in $(ldd "$@" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u); do
		dpkg-query -S "$library" 2> /dev/null || dpkg-query -S "/usr$library" 2> /dev/null ||
			dpkg-query -S "$(realpath "$library")" ||
			return 1
	done | sed 's/[:,].*//' | sort -u
}

mode=install
case ${1-} in
--list) mode=list; shift ;;
--missing) mode=missing; shift ;;
--libraries)
	shift
	[ $# -gt 0 ] || usage
	libraries "$@"
	exit
	;;
-*) usage ;;
esac
[ $# -gt 0 ] || set -- build check
packages "$@" > /dev/null

if [ $mode = list ]; then
	named "$@"
	exit
fi
if ! command -v dpkg-query > /dev/null; then
	echo "deps.sh: not a Debian system: these packages, under whatever name, have to be there:" >&2
	named "$@" | tr '\n' ' ' >&2
	echo >&2
	exit 0
fi
wanted=$(missing "$@")
if [ $mode = missing ]; then
	[ -z "$wanted" ] || echo "$wanted"
	exit
fi
[ -n "$wanted" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	# Without a terminal sudo cannot ask for a password.
	if ! command -v sudo > /dev/null || { [ ! -t 0 ] && ! sudo -n true 2> /dev/null; }; then
		{
			echo "deps.sh: these packages are missing, and installing them takes root:"
			echo $wanted
			echo "As root:"
			echo "	apt-get install --no-install-recommends" $wanted
		} >&2
		exit 1
	fi
	sudo=sudo
fi
if ! has_lists; then
	$sudo apt-get -q update >&2
	wanted=$(missing "$@")
	[ -n "$wanted" ] || exit 0
fi
echo "deps.sh: installing" $wanted >&2
start_nothing
install $wanted >&2
