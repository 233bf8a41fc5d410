#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# `cachepeek ./app` is the parent of the program: it knows how that ended and
# what all of it cost the kernel, whatever nobody in the process could see.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;
use Time::HiRes qw(sleep time);

my $json = scratch('report.json');

# Without it, addresses decide how many pages of its own the kernel touches.
my @fixed = run(command => ['setarch', '-R', 'true'])->{status} == 0 ? ('setarch', '-R') : ();

sub launch
{
	my ($arguments, %env) = @_;
	unlink($json);
	my $run = run(command => [@fixed, cli(), '-o', $json, @$arguments], env => {
		CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $SOFTWARE, %env});
	my $text = read_file($json);
	$run->{report} = Json::decode_json($text) if defined $text;
	return $run;
}

sub root_end
{
	my ($run) = @_;
	my $process = $run->{report} ? root_process($run->{report}) : undef;
	return 'none' unless $process;
	return "$process->{exit}{how} " . ($process->{exit}{code} // '-');
}

# ---- totals ----

SKIP: {
	skip('the kernel counts no software events here', 1) unless can_count('software');
	my $most = 20 + length(join('', %ENV)) / 4096;
	my ($argument_pages, %status) = (undef, kill => 'signal 9', raw => 'exit 22', return => 'exit 3');
	my %end = (kill => 'killed 9', raw => 'exit 22', return => 'exit 3');
	for my $case (['kill', '0000'], ['kill', 2000], ['raw', 2000], ['return', 2000]) {
		my ($how, $pages) = @$case;
		my $run = launch([program('pages_left'), $pages, $how]);
		my $what = "$how, $pages pages";
		is(status_text($run->{status}), $status{$how}, "$what: the program's status");
		is($run->{err}, '', "$what: nothing to say");
		is(root_end($run), $end{$how}, "$what: its end in the report");
		is(scalar(grep { @{$_->{threads}} } @{$run->{report}{processes}}), 2, "$what: both processes");
		my %total = map { $_ => $run->{report}{launcher_totals}{$_}{value} }
			keys %{$run->{report}{launcher_totals} || {}};
		skip('the kernel mode is not counted here', 1) unless defined $total{'perf::MINOR-FAULTS'};
		my $events = $total{'perf::MINOR-FAULTS'} + $total{'perf::MAJOR-FAULTS'};
		my $usage = $total{'rusage::MINOR-FAULTS'} + $total{'rusage::MAJOR-FAULTS'};
		cmp_ok($events, '>=', 5 * $pages, "$what: every page of threads and child");
		cmp_ok($events, '<', 5 * $pages + 1000, "$what: and few others");
		# The rest of rusage: the pages of the arguments and the
		# environment, which the kernel wrote before there was a program, and those of
		# the library, which are mapped ahead.
		$argument_pages = $usage - $events unless defined $argument_pages;
		cmp_ok($argument_pages, '<', $most, "$what: rusage has the arguments' pages more");
		is($usage - $events, $argument_pages, "$what: and none else") if @fixed;
	}
	my $text = run(command => [cli(), program('pages_left'), 10, 'kill'],
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $SOFTWARE})->{err};
	like($text, qr/^ran .*; killed by SIGKILL: cut short,\s/m, 'the text report says first who ended it');
	like($text, qr/^totals .*perf::PAGE-FAULTS\s+\d+/ms, '... and has the totals');
	$text = run(command => [cli(), program('pages_left'), 10, 'return'],
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $SOFTWARE})->{err};
	like($text, qr/whole run/, 'a program that ends by itself: a report');
	unlike($text, qr/^totals/m, '... in which they would say nothing new');

	$text = run(command => [cli(), program('pages_left'), 10, 'raw'],
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $SOFTWARE})->{err};
	like($text, qr/^ran .*; exit 22$/m, 'a program that makes the exit system call itself: its end');
	like($text, qr/^totals .*perf::PAGE-FAULTS\s+\d+/ms, '... and the totals, for the counts ended with it');

	# Two more ends that nobody in the process sees, each with its threads.
	for my $how (9, 'raw') {
		my $run = launch([program('ends'), $how]);
		my ($process) = @{$run->{report}{processes}};
		is(scalar(@{$process->{threads}}), 5, "$how: its threads");
		is(region($run->{report}, 'work')->{calls}, 46, "$how: the regions they completed");
		my @reasons = grep { defined } map { $_->{regions}[0]{counts}{'perf::PAGE-FAULTS'}{reason} } @{$process->{threads}};
		like($reasons[0], $how eq 'raw' ? qr/made the exit system call itself/ : qr/^the process was killed$/,
			"$how: why a thread has no counts");
	}
}

# ---- two runs in one report ----

SKIP: {
	skip('the kernel counts no software events here', 3) unless can_count('software');
	my %env = (CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS');
	my @runs = map { scratch("totals$_") } 1, 2;
	run(command => [cli(), '-d', $_, '-o', scratch('x.json'), program('pages_left'), 10, 'return'], env => \%env) for @runs;
	my ($one, $other, $both) = map {
		run(command => [cli(), 'report', '-o', scratch('x.json'), @$_]);
		Json::decode_json(read_file(scratch('x.json')))->{launcher_totals};
	} [$runs[0]], [$runs[1]], \@runs;
	skip('the kernel mode is not counted here', 3) unless $one->{'perf::PAGE-FAULTS'};
	is_deeply([sort keys %$both], [sort keys %$one], 'two runs: the same totals');
	is($both->{$_}{value}, $one->{$_}{value} + $other->{$_}{value}, "$_: the sum") for 'perf::PAGE-FAULTS', 'rusage::MINOR-FAULTS';
}

# ---- on the simulated PMU: its own faults are not the program's ----

{
	my $run = launch([program('ends'), 9], CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions');
	is(status_text($run->{status}), 'signal 9', 'sim: the program\'s status');
	is(root_end($run), 'killed 9', 'sim: its end in the report');
	ok($run->{report} && !$run->{report}{launcher_totals}, 'sim: no totals');
	cmp_ok($run->{report}{processes}[0]{whole_process}{counts}{instructions}{value}, '>', 10000,
		'sim: the counts of the process survived');
}

# ---- a program's own LD_PRELOAD ----

{
	# The dynamic linker says that there is no such library, and goes on.
	my $run = launch([program('empty')], CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions',
		LD_PRELOAD => lib() . '.old');
	is(root_end($run), 'exit 0', 'a library whose name only begins like ours does not take its place');
}

# ---- it stays out of the way ----

# Starts the command in a group of its own, waits for its first line, then does
# something to it.
sub signalled
{
	my ($code, $do) = @_;
	unlink($json);
	pipe(my $read, my $write) or die "pipe: $!";
	my $pid = fork();
	die "fork: $!" unless defined $pid;
	if (!$pid) {
		setpgrp(0, 0);
		open(STDOUT, '>&', $write) or die "stdout: $!";
		$ENV{CACHEPEEK_ENGINE} = can_count('software') ? 'perf' : 'sim';
		$ENV{CACHEPEEK_EVENTS} = $SOFTWARE if can_count('software');
		exec(cli(), '-o', $json, which('perl'), '-e', $code) or die "exec: $!";
	}
	close($write);
	my $line = <$read>;
	$do->($pid, $line);
	waitpid($pid, 0);
	my $text = read_file($json);
	return {status => $?, report => defined $text ? Json::decode_json($text) : undef};
}

my $wait = '$| = 1; print "$$\n"; sleep 60;';
{
	my $run = signalled('$SIG{TERM} = sub { exit 7 };' . $wait, sub { kill('TERM', $_[0]) });
	is(status_text($run->{status}), 'exit 7', 'a SIGTERM for the command is the program\'s');
	is(root_end($run), 'exit 7', '... which answers it');
	$run = signalled('$SIG{INT} = sub { exit 8 };' . $wait, sub { kill('INT', -$_[0]) });
	is(status_text($run->{status}), 'exit 8', 'a SIGINT for all: the program decides');
	is(root_end($run), 'exit 8', '... and there is a report');
	$run = signalled($wait, sub { kill('KILL', $_[1]) });
	is(status_text($run->{status}), 'signal 9', 'the program is killed: so is the command');
	is(root_end($run), 'killed 9', '... after its report');
	my @ignoring = (which('perl'), '-e', '$SIG{CHLD} = "IGNORE"; exec @ARGV');
	my @show = ('sh', '-c', 'grep SigIgn /proc/self/status; exit 9');
	my $out = run(command => [@ignoring, cli(), '-E', 'sim', '-o', $json, @show]);
	is($out->{out}, run(command => [@ignoring, @show])->{out},
		'ignored SIGCHLD: the program has that as it was');
	is(status_text($out->{status}), 'exit 9', '... and the command its status');
}
{
	my $kept = scratch('kept');
	mkdir($kept, 0700) or die;
	launch(['/absent/program'], CACHEPEEK_DIR => $kept);
	ok(-d $kept, 'a directory that was there before stays if nothing runs');
	my $run = launch([program('empty')], CACHEPEEK_DIR => $kept);
	is(scalar(() = glob("$kept/*.rec")), 1, 'the records are where they were asked for');
	run(command => [cli(), '-E', 'sim', '-o', scratch('%e-%r.json'), program('exits'), 'kill']);
	ok(-s scratch('exits-0.json'), 'names of files have the program\'s name');
	my $inner = run(command => [cli(), '-E', 'sim', '-o', $json, cli(), program('empty')]);
	is_deeply([map { $_->{exe} =~ s{.*/}{}r } leaves(Json::decode_json(read_file($json)))],
		['empty'], 'cachepeek in cachepeek: one run') or diag($inner->{err});
}
done_testing();
