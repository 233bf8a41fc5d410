#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# With any limit of descriptors a program can open as many as alone; what is not
# counted for that is unavailable, with its reason.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $faults = 'perf::PAGE-FAULTS';
my $perf = can_count('software');

# Nothing that whoever runs the tests left open.
my @alone = ('perl', '-MPOSIX', '-e', 'POSIX::close($_) for 3 .. 1023; exec @ARGV or die $!');
sub limit { [@alone, @{$_[1] || []}, 'prlimit', "--nofile=$_[0]"] }

# As whom: root may have what raises hard limits.
my @users = [];
push(@users, [as_user()]) if !no_other_user();
my $work = scratch('work');
mkdir($work);
chmod(0777, $work);

my @lists = map { write_file("$work/in$_", "$_\n") } 10 .. 40;
my %programs = (
	opens => [program('opens'), 'open'],
	sort => ['sort', '-m', @lists],
	pipeline => ['sh', '-c', 'echo a b c | tr " " "\n" | sort -r | head -2; echo $?'],
	subprocess => [which('python3'), '-c', 'import subprocess; print(subprocess.run(["echo", "hi"], capture_output=True))'],
);

# One line from us at most, and it gives a reason.
sub ok_as_alone
{
	my ($what, $engine, $under, $command, %more) = @_;
	my $plain = plain(command => [@$under, @$command], cwd => $work);
	my $run = peek(engine => $engine, under => $under, command => $command, cwd => $work,
		env => {HOME => $work, TMPDIR => $work, XDG_CACHE_HOME => "$work/cache$<" . scalar(@$under)}, %more);
	is_deeply([@$run{qw(out status)}], [@$plain{qw(out status)}], "$what: output and status");
	is($run->{err}, $plain->{err}, "$what: stderr");
	return $run;
}

# Where the root region has a value it is the whole truth; else it says why.
sub ok_root
{
	my ($run, $what) = @_;
	my ($root) = grep { !@{$_->{path}} } @{$run->{report}{regions} || []};
	my $count = $root && $root->{counts}{$faults} or return;
	ok($count->{status} eq 'exact' || (!defined $count->{value} && $count->{reason}), "$what: a value or a reason")
		or diag(explain($count));
}

SKIP: {
	skip('perf: the kernel counts no software events here', 1) unless $perf;
	for my $user (@users) {
		for my $limit (4 .. 12, 16, 32, 63, 64, 65, 256) {
			for my $hard ($limit, 1024) {
				for my $name (sort keys %programs) {
					next if $name eq 'subprocess' && !$programs{$name}[0];
					next if $name ne 'opens' && $hard > $limit && $limit !~ /^(4|8|64)$/;
					my $what = "perf, $limit of $hard" . (@$user ? ', not as root' : '') . ", $name";
					ok_root(ok_as_alone($what, 'perf', limit("$limit:$hard", $user), $programs{$name}), $what);
				}
			}
		}
	}
	# With a higher hard limit nothing is lost, however low the soft one is.
	for my $limit (4, 8, 64) {
		my $run = peek(engine => 'perf', under => limit("$limit:1024"), command => [program('opens'), 'open']);
		is(value(region($run->{report}, 'touch'), $faults), 20, "$limit of 1024: exact counts");
		is(notes($run), 0, '... nothing to say') or diag(@{$run->{notes}});
	}
	# So few that none is ours.
	my $run = peek(engine => 'perf', under => limit('8:8'), command => [program('opens'), 'list']);
	my ($thread) = map { @{$_->{threads}} } @{$run->{report}{processes}};
	SKIP: {
		skip('this user may raise hard limits', 2) if notes($run) == 0;
		is($thread->{state}, 'lost', '8 descriptors: the thread is not counted');
		like("@{$run->{notes}}", qr/limit 8.*ulimit -n/, '... and why not, and what helps');
	}
	# A file that the program opens where stderr was gets no line of ours.
	peek(engine => 'perf', under => limit('8:8'), command => ['bash', '-c', 'exec 2>&- 2> other; sleep 0; :'],
		cwd => $work, output => 'stderr');
	is(read_file("$work/other"), '', 'a file in the place of stderr stays empty');

	# Every function that we stand in front of gives ours to the program when its own are used up.
	my ($overrides) = read_file(source() . '/preload/program/hooks_open.c') =~ /Overrides: (.*?)\./s;
	my %known = map { $_ => 1 } split(/\n/, run(command => [program('opens'), 'list'])->{out});
	is_deeply([grep { !$known{$_} } split(/[,\s*]+/, $overrides)], [], 'all of hooks_open.c are tried');
	ok_as_alone("$_, all of 256", 'perf', limit('256:256'), [program('opens'), $_]) for sort keys %known;

	# Lowered by the program itself, below where ours are.
	ok_as_alone("a limit of $_, set by the program", 'perf', limit('256:256'), [program('opens'), 'open', $_])
		for 10, 100, 140, 200;
	ok_as_alone('600 threads', 'perf', limit('1024:1024'), [program('many_threads'), 600, 1100]);
}

# The simulated PMU, where there is room for it, or natively, with one line.
for my $limit ('4:4', '8:8', '12:12', '64:64', '256:256', '4:1024', '8:1024', '20:1024', '256:1024') {
	my $run;
	for my $name (qw(opens sort)) {
		$run = ok_as_alone("sim, $limit, $name", 'sim', limit($limit), $programs{$name}, groups => 'cache');
		my $counted = $run->{report} && @{$run->{report}{regions} || []};
		next if !$counted && "@{$run->{notes}}" =~ /no report: .*too many open files/; # all are in use
		is(notes($run), $counted ? 0 : 1, "sim, $limit, $name: a report, or a line") or diag(@{$run->{notes}});
	}
}
# Descriptors above the soft limit, lower than which it was made: the core's are behind them.
for my $highest (13, 23, 24, 40, 300, 1015) {
	my @above = ('perl', '-MPOSIX', '-e', "POSIX::close(\$_) for 3 .. 1023; POSIX::dup2(0, \$_) for 12 .. $highest; exec \@ARGV or die \$!",
		'prlimit', '--nofile=12:1024');
	my $run = ok_as_alone("sim, 12 of 1024 and $highest open", 'sim', \@above,
		['sh', '-c', 'ulimit -n; ulimit -Sn 12; [ -e /proc/$$/fd/12 ]; echo $?; exec sh -c "ulimit -n; cat /proc/self/stat | wc -l"'], events => 'instructions');
	my $counted = $run->{report} && @{$run->{report}{regions} || []};
	is(notes($run) ? 0 : 1, $counted ? 1 : 0, '... a report, or a line') or diag(@{$run->{notes}});
	is($counted ? 1 : 0, $highest < 1012 ? 1 : 0, '... a report where there is room for the core');
}
my @nested = ('sh', '-c', 'ulimit -n; sh -c "ulimit -n; sh -c \"ulimit -n; ulimit -Hn\""');
for my $engine (qw(perf sim)) {
	next if $engine eq 'perf' && !$perf;
	my @soft = map { /^(\d+)$/m } split(/^/, peek(engine => $engine, under => limit('100:1024'), command => \@nested)->{out});
	is_deeply([@soft[0 .. 2]], [100, 100, 100], "$engine: the limit is that of the program in each image") ;
}
done_testing();
