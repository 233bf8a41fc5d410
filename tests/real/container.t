#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A container, as far as unshare and chroot make one: other mounts, pids and root.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

# The system's own files under another root, where the library and its run
# directory have the names that they have outside.
sub build_root
{
	my ($at) = @_;
	my $root = $at->work('root');
	my $scratch = scratch();
	my @parts = grep { -d && !-l } qw(/usr /bin /lib /lib64 /sbin /etc);
	my @links = grep { -l } qw(/bin /lib /lib64 /sbin);
	return join("\n", 'set -e', "mkdir -p $root/proc $root/dev $root/tmp $root$scratch",
		(map { "mkdir -p $root$_; mount --bind $_ $root$_" } @parts, $scratch),
		(map { "ln -s " . readlink($_) . " $root$_" } @links),
		"mount --bind /dev $root/dev", "mount -t proc proc $root/proc", '');
}

my $inside = <<'END';
cd /
echo "pid $$, host $(hostname)"
ls -d /proc/[0-9]* | head -n 1
for n in 1 2 3; do (exit $n); echo "status $?"; done
(sleep 0.1; echo background) &
wait
seq 1 1000 | sort -rn | sha256sum
exec sh -c 'exit 6'
END

software('container', needs => ['unshare', 'chroot'],
	skip => sub { return $ENV{REAL_SEPARATE} ? undef : 'no mounts of our own' },
	use => sub {
		my ($at) = @_;
		my @unshare = ('unshare', '--mount', '--pid', '--fork', '--uts', '--ipc', '--net', '--kill-child');
		my $enter = "hostname inside; exec chroot ${\$at->work('root')} sh -c '" . $inside =~ s/'/'\\''/gr . "'";
		$at->under(@unshare, 'sh', '-c', build_root($at) . $enter);
		$at->under('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', 'id -u; mount -t tmpfs t /mnt && touch /mnt/a && ls /mnt');
	},
	# mount(8) is set-user-ID: left alone, with a line.
	notes => {sim => qr{/usr/bin/mount: it is set-user-ID}},
	counted => {sort => 1, unshare => 1});
done_testing();
