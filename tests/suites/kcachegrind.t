#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A profile with call paths, opened in KCachegrind itself, without a screen: its loader has no
# complaint, and it has read the file to its end.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

plan(skip_all => 'no KCachegrind here (kcachegrind, dbus-bin, dbus-daemon)') if grep { !which($_) } qw(kcachegrind dbus-send dbus-run-session);

# It answers once it has its window and has read what was named.
my $open = write_file(scratch('open.sh'), <<'SH');
kcachegrind "$1" &
until dbus-send --session --print-reply --dest=org.kde.kcachegrind-$! /MainApplication org.qtproject.Qt.QCoreApplication.quit; do
	kill -0 $! || exit 1
	sleep 0.1
done > /dev/null 2>&1
wait $!
SH
sub complaints
{
	my ($file) = @_;
	my $run = run(command => ['dbus-run-session', '--', 'sh', $open, $file],
		env => {QT_QPA_PLATFORM => 'offscreen', HOME => scratch('home'), XDG_RUNTIME_DIR => scratch('home')});
	is(status_text($run->{status}), 'exit 0', "KCachegrind was started with $file") or diag($run->{err});
	return [map { s/^Loading "[^"]*" : //r } grep { /^Loading "/ } split(/\n/, $run->{err})];
}

mkdir(scratch('home'), 0700);
for (['dcache', program('call_paths')], ['icache', '/usr/bin/bc', '-v'], ['dtlb', '/bin/ls', '-l', '/']) {
	my ($kind, @command) = @$_;
	my $file = scratch("callgrind.out.$kind");
	run(command => [cli(), $kind, '--call-paths', '-o', $file, @command]);
	my $lines = () = read_file($file) =~ /\n/g;
	like(read_file($file), qr/^calls=/m, "$kind of $command[0], with calls");
	is_deeply(complaints($file), [], 'it has no complaint');
	write_file($file, read_file($file) . "nothing=1\n");
	my $last = $lines + 1;
	is_deeply(complaints($file), [qq($last :  "Invalid line 'nothing=1'")], 'but of a line that is added at its end');
}
done_testing();
