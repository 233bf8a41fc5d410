#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs that the simulated PMU does not run although the kernel does: they run
# without it, as ever, and what was not counted is named with the reason.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Peek;
use Test::More;

plan(skip_all => 'only root can make such programs') unless root();
my $bash = which('bash') or plan(skip_all => 'no bash');
my $dir = tempdir('privileged-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod(0755, $dir);

# A copy of a program that prints who it is; then what makes it special.
sub special
{
	my ($name, $make) = @_;
	copy(which('id'), "$dir/$name") or die "$name: $!";
	chmod(0755, "$dir/$name");
	return $make->("$dir/$name") ? "$dir/$name" : undef;
}

# As setcap(8) writes it: version 2, cap_net_raw permitted.
sub give_capabilities
{
	my ($path) = @_;
	return run(command => ['python3', '-c', 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<IIIII", 0x02000000, 1 << 13, 0, 0, 0))',
		$path])->{status} == 0;
}

my @programs = (
	['set-user-ID', special('setuid', sub { chmod(04755, $_[0]) }), qr/set-user-ID or set-group-ID/],
	['set-user-ID of another user', special('other', sub { chown(65534, 65534, $_[0]) && chmod(06755, $_[0]) }), undef],
	['of capabilities', special('capable', \&give_capabilities), qr/file capabilities/],
);

# One that calls another, which bash does in a child of its own.
sub called { return [$bash, '-c', '"$0" -u; exit $?', $_[0]] }

for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	for my $program (@programs) {
		my ($what, $path, $why) = @$program;
		SKIP: {
			skip("$what: cannot be made here", 1) unless $path;
			my $plain = plain(command => called($path));
			my $run = peek(engine => $engine, command => called($path));
			is($run->{out}, $plain->{out}, "$engine, $what: same output");
			is($run->{err}, $plain->{err}, "$engine, $what: no line of Valgrind's");
			is(status_text($run->{status}), status_text($plain->{status}), "$engine, $what: same status");
			next if $engine eq 'perf';
			# Into the program of another user the library is not let at all.
			is(notes($run), $why ? 1 : 0, "$what: one line") or diag(@{$run->{notes}});
			like("@{$run->{notes}}", qr/a child is not counted: the simulated PMU cannot run \Q$path\E: .*$why/,
				"$what: with the reason") if $why;
			my ($it, @more) = @{$run->{report}{not_followed} || []};
			is(scalar(@more), 0, "$what: one program was not counted");
			is($it->{exe}, $path, "$what: the report names it");
			like($it->{why}, qr/the simulated PMU runs no program that/, "$what: with the reason");
		}
	}
}

# As the program itself: nothing is counted, and it runs.
my $path = $programs[0][1];
my $run = peek(engine => 'sim', command => [$path, '-u']);
is($run->{out}, "0\n", 'the program itself: it runs');
is(status_text($run->{status}), 'exit 0', 'the program itself: its status');
like("@{$run->{notes}}", qr/^cachepeek: the program is not counted: the simulated PMU cannot run \Q$path\E: it is set-user-ID/,
	'the program itself: the reason');

# su is the one that everybody meets; what it starts belongs to another user.
SKIP: {
	my $su = which('su');
	skip('no su, or it is not set-user-ID', 1) unless $su && -u $su;
	my @command = ('sh', '-c', "$su nobody -s /bin/sh -c 'id -un'");
	my $plain = plain(command => \@command);
	skip('su does not work here', 1) if $plain->{status};
	my $with = peek(engine => 'sim', command => \@command);
	is($with->{out}, $plain->{out}, 'su: same output');
	is(status_text($with->{status}), status_text($plain->{status}), 'su: same status');
}

done_testing();
