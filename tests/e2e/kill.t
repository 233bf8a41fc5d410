#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# SIGKILL at any instant: the record can be read, what was completed before is
# in it, and nothing is half there.
# KILLS: how many instants of each engine (20 of perf, 4 of sim).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;
use Time::HiRes qw(sleep time);

my ($engine, $event, $kills);
my $pages = 8; # of killed.c, per "inner"

need_perf();

sub new_counters { write_file($_[0], "\0" x 4096) }

sub report_of
{
	my ($directory) = @_;
	my $file = "$directory.json";
	my $with = run(command => [cli(), 'report', '-o', $file, $directory]);
	my $text = read_file($file);
	unlink($file);
	return ($with, defined $text ? Json::decode_json($text) : undef);
}

# Starts the program and kills it after it has begun, and then some time.
sub kill_one
{
	my ($counters, $directory, $signal, $output) = @_;
	my $pid = fork();
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		$ENV{LD_PRELOAD} = lib();
		$ENV{CACHEPEEK_ENGINE} = $engine;
		$ENV{CACHEPEEK_EVENTS} = $event;
		$ENV{CACHEPEEK_DIR} = $directory;
		$ENV{CACHEPEEK_OUTPUT} = $output if $output;
		exec(program('killed'), $counters) or die "exec: $!";
	}
	my $until = time() + 30;
	sleep(0.002) until time() > $until || 4 == grep { $_ } (unpack('Q8', read_file($counters)))[0, 2, 4, 6];
	sleep(rand(0.02));
	kill($signal, $pid);
	my $gone = 0;
	$until = time() + 30;
	sleep(0.002) until ($gone = waitpid($pid, 1)) || time() > $until;   # 1: WNOHANG
	return $? if $gone;
	kill('KILL', $pid);
	waitpid($pid, 0);
	return 'still running';
}

# The faults of a thread, of which outer and inner were seen completed.
sub thread_faults
{
	my ($thread, $outer, $inner) = @_;
	return 'no thread' unless $thread;
	my ($o, $i) = (region($thread, 'outer'), region($thread, 'outer', 'inner'));
	return 'no region' unless $o && $i;
	my @faults;
	my %fault = map { $_->{path}[-1] => value($_, $event) } $o, $i;
	# The program may be killed between the end of a region and its count.
	push(@faults, "outer $o->{calls}, seen $outer")
		if $o->{calls} < $outer || $o->{calls} > $outer + 1;
	push(@faults, "inner $i->{calls}, seen $inner")
		if $i->{calls} < $inner || $i->{calls} > $inner + 1;
	# A page fault is exact; that simulated instructions were counted is enough here.
	push(@faults, "inner: $fault{inner} faults in $i->{calls}")
		if $engine eq 'perf' ? $fault{inner} != $pages * $i->{calls} : $fault{inner} < $pages * $i->{calls};
	# outer has had the inner ones of its completed executions; the record of
	# what was inside (value - exclusive) has all that were completed.
	my $inside = $fault{outer} - value($o, $event, 'exclusive');
	push(@faults, "outer: $fault{outer} faults in $o->{calls}")
		if $fault{outer} < 2 * $pages * $o->{calls};
	push(@faults, "outer: $inside faults inside") if $inside > $fault{inner};
	my ($root) = grep { !@{$_->{path}} } @{$thread->{regions}};
	my $whole = value($root, $event);
	push(@faults, "root: $whole") if $whole < $fault{inner};
	return @faults;
}

my $counters = scratch('counters');
for (['perf', 'perf::PAGE-FAULTS', 20], ['sim', 'instructions', 4]) {
	($engine, $event, $kills) = @$_;
	$kills = $ENV{KILLS} || $kills;
	next if $ENV{KILL_ENGINE} && $ENV{KILL_ENGINE} ne $engine;
	my (@faults, $completed);
	for my $n (1 .. $kills) {
		my $directory = scratch(sprintf('kill-%s-%04d', $engine, $n));
		new_counters($counters);
		my $status = kill_one($counters, $directory, 'KILL');
		my @done = unpack('Q12', read_file($counters));
		my ($with, $report) = report_of($directory);
		my @wrong;
		push(@wrong, "status $status") if $status ne 9;
		push(@wrong, $with->{err}) if $with->{err} =~ /damaged|cut off|ends before/;
		push(@wrong, 'no report') if !$report;
		push(@wrong, "how $report->{processes}[0]{exit}{how}")
			if $report && $report->{processes}[0]{exit}{how} ne 'unknown';
		for my $index (0 .. 3) {
			my ($thread) = grep { $_->{tid} == $done[8 + $index] }
				$report ? @{$report->{processes}[0]{threads}} : ();
			push(@wrong, map { "thread $index: $_" }
				thread_faults($thread, @done[2 * $index, 2 * $index + 1]));
			$completed += $done[2 * $index + 1];
		}
		push(@faults, "kill $n: " . join('; ', @wrong)) if @wrong;
		unlink(glob("$directory/*.rec"));
		rmdir($directory);
	}
	ok(!@faults, "$engine: $kills kills: nothing lost, nothing torn") or
		diag(@faults . ":\n" . join("\n", @faults[0 .. ($#faults < 4 ? $#faults : 4)]));
	cmp_ok($completed, '>', ($engine eq 'perf' ? 10 : 1) * $kills, "$engine: $completed regions were completed before");

	# SIGTERM may find a thread inside a marker: that ends first, and the report is there.
	my @unsaid;
	for my $n (1 .. $kills) {
		my ($directory, $output) = (scratch(sprintf('term-%s-%04d', $engine, $n)), scratch("term-$engine-$n.json"));
		new_counters($counters);
		my $status = kill_one($counters, $directory, 'TERM', $output);
		my $report = eval { Json::decode_json(read_file($output) // '') };
		my $exit = $report ? $report->{processes}[0]{exit} : {how => 'no report', code => ''};
		push(@unsaid, "term $n: status $status, $exit->{how} $exit->{code}")
			if $status ne 15 || "$exit->{how} $exit->{code}" ne 'signal 15';
		unlink(glob("$directory/*.rec"), $output);
		rmdir($directory);
	}
	is(scalar(@unsaid), 0, "$engine: $kills times SIGTERM: a report each time") or diag(join("\n", @unsaid));
}
done_testing();
