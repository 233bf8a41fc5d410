#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The processes that a program starts: one report of all of them, written by
# the first; none of those that nobody is to count; and what could not be
# followed is named.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use File::Path qw(remove_tree);
use POSIX ();
use Test::More;

my @ways = qw(fork vfork spawn system popen exec chain daemon);
# By a shell of its own.
my %shell = map { $_ => 1 } qw(system popen);

sub names { join(' ', sort map { $_->{exe} =~ s{.*/}{}r } @_) }
sub unfollowed { @{$_[0]{report}{not_followed} || []} }

# The names of the shell and its like depend on the system.
sub children_only { grep { $_->{exe} =~ /children$/ } @_ }

my @engines = ((can_count('software') ? 'perf' : ()), 'sim');
for my $engine (@engines) {
	for my $way (@ways) {
		my $plain = plain(command => [program('children'), $way]);
		my $run = peek(engine => $engine, command => [program('children'), $way]);
		my $what = "$engine, $way";
		is($run->{out}, $plain->{out}, "$what: same output");
		is($run->{err}, $plain->{err}, "$what: nothing on stderr");
		is(status_text($run->{status}), status_text($plain->{status}), "$what: same status");
		is(notes($run), 0, "$what: nothing to say") or diag(@{$run->{notes}});
		my @leaves = leaves($run->{report});
		my $expected = $way =~ /^(exec|chain)$/ ? 1 : 2;
		is(scalar(grep { $_->{exit}{how} eq 'exit' && $_->{exit}{code} == 17 } children_only(@leaves)),
			$expected, "$what: both ended as they did");
		is(scalar(unfollowed($run)), 0, "$what: nobody was left behind");
		ok_sums($run->{report}, $what);
		is(scalar(map { $_->{image} > 0 ? 1 : () } @leaves), 1, "$what: an image after another")
			if $expected == 1;

		$run = peek(engine => $engine, command => [program('children'), $way],
			env => {CACHEPEEK_CHILDREN => 'ignore'});
		is($run->{out}, $plain->{out}, "$what, ignored: same output");
		is($run->{err}, $plain->{err}, "$what, ignored: nothing on stderr");
		my %pids = map { $_->{pid} => 1 } @{$run->{report}{processes}};
		is(join(' ', keys %pids), root_process($run->{report})->{pid},
			"$what, ignored: the one process");
		is(scalar(unfollowed($run)), 0, "$what, ignored: not a word about others");
	}
}

# ---- children that cannot be ----

for my $engine (@engines) {
	my $plain = plain(command => [program('spawn_errors')]);
	my $run = peek(engine => $engine, command => [program('spawn_errors')]);
	like($plain->{out}, qr/^\/no\/such\/program: 2, with actions 2, searched 2, /m, "$engine: posix_spawn: errors are returned");
	like($plain->{out}, qr/^vfork, \/no\/such\/program: 2, .*^after vfork: its child$/ms, "$engine: vfork: its parent learns of them");
	is($run->{out}, $plain->{out}, "$engine: posix_spawn, vfork: the same errors");
	is($run->{err}, $plain->{err}, "$engine: posix_spawn: nothing on stderr");
}

# ---- in an environment without us ----

SKIP: {
	skip('perf: the kernel counts no software events here', 1) unless can_count('software');
	for my $way (qw(fork vfork spawn exec)) {
		my @command = (program('children'), $way, 'bare');
		my $plain = plain(command => \@command);
		# Only the parent can report the root's own exec.
		my $run = peek(engine => 'perf', command => [$way eq 'exec' ? cli() : (), @command],
			$way eq 'exec' ? (env => {LD_PRELOAD => undef}) : ());
		is($run->{out}, $plain->{out}, "bare $way: same output");
		is(status_text($run->{status}), status_text($plain->{status}), "bare $way: same status");
		my ($it, @more) = unfollowed($run);
		is(scalar(@more), 0, "bare $way: one program was not followed");
		like($it->{exe} // '', qr{/children$}, "bare $way: it is named");
		like($it->{why} // '', qr/environment/, "bare $way: with the reason");
		my ($root) = @{$run->{report}{processes}};
		if ($way eq 'exec') {
			is($it->{pid}, $root->{pid}, "bare $way: the process itself");
		} else {
			is($it->{ppid}, $root->{pid}, "bare $way: its parent");
			ok($it->{pid} > 0 && $it->{pid} != $root->{pid}, "bare $way: its pid");
		}
		my $text = peek(engine => 'perf', output => 'stderr', command => \@command)->{err};
		like($text, qr/children\s+\d+\s+—\s+not followed/, "bare $way: in the text")
			if $way ne 'exec';

		$run = peek(engine => 'perf', command => \@command, env => {CACHEPEEK_CHILDREN => 'force'});
		is(status_text($run->{status}), status_text($plain->{status}), "forced $way: same status");
		is($run->{err}, $plain->{err}, "forced $way: nothing on stderr");
		is(scalar(unfollowed($run)), 0, "forced $way: nobody was left behind");
		my ($leaf) = grep { $_->{exit}{how} eq 'exit' && ($way eq 'exec' || $_->{pid} != $root->{pid}) }
			reverse leaves($run->{report});
		is($leaf->{exit}{code}, 17, "forced $way: its end");
		ok(defined $leaf->{threads}[0]{regions}[0]{counts}{'perf::PAGE-FAULTS'}{value},
			"forced $way: its counts");
	}

	my $run = peek(engine => 'perf', command => ['sh', '-c', program('static') . '; env -i ' . which('true') . '; exit 3']);
	is($run->{out}, "static\n", 'a static program and a cleaned environment: same output');
	is(status_text($run->{status}), 'exit 3', '... same status');
	is_deeply([sort map { ($_->{exe} =~ s{.*/}{}r) . ($_->{why} =~ /environment/ ? ' changed' : ' not loaded') }
		unfollowed($run)], ['static not loaded', 'true changed'], '... and why each was not followed');

	# Many: a row each for some, and how many more of each name.
	my $text = peek(engine => 'perf', output => 'stderr', command => ['sh', '-c',
		'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do ' . program('empty') . '; done; exit 3'])->{err};
	like($text, qr/^ran\s+16 processes/m, 'many processes: how many');
	like($text, qr/^… and 4 more: 4 empty$/m, '... the rest by name');
	is(scalar(() = $text =~ /^empty /mg), 11, '... and a row for each of the others');
}
SKIP: {
	skip('no software events', 2) unless can_count('software');
	skip(no_other_user(), 2) if no_other_user();
	my $run = peek(engine => 'perf', command => ['sh', '-c', join(' ', as_user()) . " /bin/echo as another; :"]);
	is($run->{out}, "as another\n", 'a program of another user starts');
	like("@{$run->{notes}}", qr/cannot be written \(errno 13\): process \d+ is a run of its own, with a report of its own/,
		'and that it is in no report of this run is said');
}
SKIP: {
	skip('the driver knows x86-64 only', 2) unless (POSIX::uname())[4] eq 'x86_64' && can_count('software');
	my ($log, %seen) = (scratch('faults.log'));
	for (my $k = 60; !$seen{environment} && (read_file($log) // '') !~ /^past /; $k++) {
		remove_tree($ENV{XDG_CACHE_HOME}); # each run before would be a call more, and K not the next
		my $run = peek(engine => 'perf', under => [program('faults'), $log, $k, 0], command => ['sh', '-c', '/bin/echo; :']);
		next unless (read_file($log) // '') =~ /^mmap/;
		my $warnings = join("\n", @{$run->{report}{warnings} || []});
		$seen{silent}++ if @{$run->{report}{processes} || []} < 2 && !notes($run) && !$warnings;
		$seen{environment}++ if $warnings =~ /no memory for a longer environment: /;
	}
	is($seen{silent} // 0, 0, 'without memory no program is lost in silence');
	is($seen{environment} // 0, 1, 'nor where the environment is to be longer');
}
done_testing();
