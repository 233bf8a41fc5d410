#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Jobs whose ranks do not meet in MPI_Finalize: one file that all of them name is one
# valid report of what all have recorded, and says who is missing; without a file there
# is one report, or one line that says where it is.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

need_perf();

my $rounds = $ENV{MPI_END_ROUNDS} // 3;
my $faults = 'perf::PAGE-FAULTS';
my %implementations = implementations();
my $preload = 'LD_PRELOAD=' . lib();
my $json = scratch('job.json');

# By the command, which sees the launcher's end; by the ranks alone; and with the library
# in the launcher, too.
sub job_of
{
	my ($by, $mpi, $output, @program) = @_;
	my @run = (@{$mpi->{run}}, '-n', 4);
	unlink(glob(scratch('job*.json')));
	my %commands = (cachepeek => [cli(), @run, @program], ranks => [@run, 'env', $preload, @program],
		launcher => ['env', $preload, @run, @program]);
	return run(command => $commands{$by},
		env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => $output,
			OMPI_MCA_btl => 'self,vader,tcp'});
}

# The region of all four ranks, whatever became of them.
sub check_job
{
	my ($what, $report) = @_;
	my $count = region($report, 'touch');
	$count = $count ? $count->{counts}{$faults} : {};
	is(join(' ', map { $_ // '-' } @$count{qw(value min max)}), '1000 100 400', "$what: all pages of all ranks");
	is_deeply($report->{ranks}, {recorded => 4, of => 4, processes => 4, missing => []}, "$what: four ranks");
}

# Hydra's is that of the rank that failed, or of those that it has killed for that.
sub check_status
{
	my ($what, $job, $plain) = @_;
	my %own = (exit => 7, segv => 11, mpi_abort => 3);
	my ($name, $how) = $what =~ /^(\w+), (\w+)/;
	my @either = (status_text($plain->{status}), $name eq 'mpich' ? ('exit 9', 'exit ' . ($own{$how} // 9)) : ());
	my $got = status_text($job->{status});
	# A launcher that is busy may say another one alone, too.
	for (1 .. 5) {
		last if grep { $_ eq $got } @either;
		push(@either, status_text(run(command => $plain->{command})->{status}));
	}
	ok(scalar(grep { $_ eq $got } @either), "$what: the status") or
		diag(status_text($job->{status}) . ", not @either");
}

# prterun ends its own messages with a NUL behind the line, which is before the next one.
sub reports_in { my ($text) = @_; return scalar(() = $text =~ /^\0?cachepeek [0-9.]+/mg) }
sub lines_in { my ($text) = @_; return grep { /^cachepeek: / } split(/^/, $text =~ tr/\0//dr) }

my %built;
for my $name (sort keys %implementations) {
	my $mpi = $implementations{$name};
	next unless has($mpi);
	$built{$name} = built($name, "touch-$name", $mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
		source() . '/tests/mpi/touch.c');
}
plan(skip_all => 'no MPI') unless grep { $_ } values %built;

# All of them return from main.  Launchers kill those that are not as fast as the first.
for my $name (sort grep { $built{$_} } keys %built) {
	for my $round (1 .. $rounds) {
		job_of('ranks', $implementations{$name}, $json, $built{$name}, 'return');
		my $report = read_json($json);
		check_job("$name, nobody calls MPI_Finalize, $round", $report);
		is_deeply($report->{warnings}, [], "$name, $round: nothing is missing");
	}
	my $run = job_of('ranks', $implementations{$name}, 'stderr', $built{$name}, 'return');
	is(reports_in($run->{err}), 1, "$name, nobody calls MPI_Finalize: one report on stderr");
	like($run->{err}, qr/^  touch +4 .* 1,000/m, "$name: of all ranks");
	is(scalar(lines_in($run->{err})), 0, "$name: and nothing else");
	unlink(map { scratch("job-$_.json") } 0 .. 3);
	my $each = job_of('ranks', $implementations{$name}, scratch('job-%r.json'), $built{$name}, 'return');
	my @own = map { value(region(read_json(scratch("job-$_.json")), 'touch'), $faults) } 0 .. 3;
	# One that was killed before has none.
	my @kept = grep { defined $own[$_] } 0 .. 3;
	is_deeply([@own[@kept]], [map { 100 * ($_ + 1) } @kept], "$name: each rank has its own file where its name says so");
	cmp_ok(scalar(@kept), '>=', 1, "$name: one at least");
	job_of('cachepeek', $implementations{$name}, scratch('job-%r.json'), $built{$name}, 'return');
	is_deeply([map { value(region(read_json(scratch("job-$_.json")), 'touch'), $faults) } 0 .. 3], [100, 200, 300, 400],
		"$name: also from the command");
}

# One of them fails, and the launcher ends the others.
my %said = (exit => 'with exit status 7', segv => 'by signal 11', mpi_abort => 'by MPI_Abort');
for my $name (sort grep { $built{$_} } keys %built) {
	for my $how ('exit', 'kill', 'segv', 'mpi_abort') {
		my @program = ($built{$name}, $how, 3);
		my $what = "$name, $how";
		my @alone = (@{$implementations{$name}{run}}, '-n', 4, @program);
		my $plain = {%{run(command => [@alone])}, command => [@alone]};
		my $job = job_of('cachepeek', $implementations{$name}, $json, @program);
		check_job("$what, cachepeek", read_json($json));
		is(scalar(lines_in($job->{err})), 0, "$what, cachepeek: nothing else is said");
		check_status("$what, cachepeek", $job, $plain);
		my $named = join("\n", @{read_json($json)->{warnings}});
		like($named, qr/^rank 3 (?:was not seen to end|ended by signal 9)/m, "$what: the report says who") if $how eq 'kill';
		like($named, qr/^rank 3 ended by signal 11/m, "$what: the report says who") if $how eq 'segv';
		$job = job_of('cachepeek', $implementations{$name}, 'stderr', @program);
		is(reports_in($job->{err}) . ' ' . lines_in($job->{err}), '1 0', "$what, cachepeek: one report on stderr");
		like($job->{err}, qr/^ran .*; \d cut short, what they did\s+until then is counted$/m, "$what, cachepeek: it says so first")
			if $how eq 'kill' || $how eq 'segv';

		# Whoever is killed says nothing; with MPICH that is everybody, but for its launcher.
		$job = job_of('launcher', $implementations{$name}, 'stderr', @program);
		my @told = lines_in($job->{err});
		is(reports_in($job->{err}) + @told, 1, "$what, launcher: one report or one line") or diag($job->{err});
		check_status("$what, launcher", $job, $plain);
		like("@told", qr/no rank lived to write the report/, "$what, launcher: what became of it")
			if $name eq 'mpich' && $how eq 'kill';
		if (@told && $told[0] =~ /`cachepeek report (\S+)`/) {
			run(command => [cli(), 'report', '-o', $json, $1]);
			check_job("$what, launcher: it says where", read_json($json));
		}
		next if $name eq 'mpich' && $how eq 'kill';
		$job = job_of('ranks', $implementations{$name}, $json, @program);
		check_job("$what, ranks", read_json($json));
		check_status("$what, ranks", $job, $plain);
		$job = job_of('ranks', $implementations{$name}, 'stderr', @program);
		my @lines = lines_in($job->{err});
		is(reports_in($job->{err}) + @lines, 1, "$what, ranks: one report or one line") or diag($job->{err});
		next unless @lines;
		like($lines[0], qr/rank 3 ended \Q$said{$how}\E while others ran/, "$what, ranks: it says how") if $said{$how};
		my ($directory) = $lines[0] =~ /`cachepeek report (\S+)`/;
		run(command => [cli(), 'report', '-o', $json, $directory // '']);
		check_job("$what, ranks: it says where", read_json($json));
	}
}

# Spawned processes are a job of their own.  Debian's MPICH has no MPI_Comm_spawn.
for my $name (sort grep { $built{$_} } keys %built) {
	SKIP: {
		my $plain = run(command => [@{$implementations{$name}{run}}, '-n', 4, $built{$name}, 'spawn'],
			env => {OMPI_MCA_btl => 'self,vader,tcp'});
		skip("this $name spawns nothing", 1) if $plain->{status};
		my $job = job_of('cachepeek', $implementations{$name}, $json, $built{$name}, 'spawn');
		check_job("$name, spawn: the parents", read_json($json));
		my $second = read_json(scratch('job.2.json'));
		is(value(region($second, 'spawned'), $faults), 140, "$name, spawn: the children have a report");
		is($second->{ranks}{of}, 2, "$name, spawn: of their own ranks");
		is(join('', lines_in($job->{err})), 'cachepeek: the report of job 2 of this run is in ' . scratch('job.2.json') . "\n",
			"$name, spawn: it is said where");
	}
}

# Ranks without MPI; what comes late is waited for.
for my $name (sort grep { $built{$_} } keys %built) {
	my $run = job_of('ranks', $implementations{$name}, "stderr,$json", program('empty'));
	is(reports_in($run->{err}), 1, "$name, without MPI: one report");
	is(read_json($json)->{ranks}{recorded}, 4, "$name, without MPI: of four ranks");
}

# A rank whose record has its name, but says nothing yet.
SKIP: {
	skip('no strace here', 1) unless which('strace') && (system('strace -o /dev/null true 2> /dev/null') == 0);
	my $late = write_file(scratch('late.sh'), <<"END");
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}" = 3 ] ||
	exec env $preload @{[program('empty')]}
exec strace -o /dev/null -e trace=fallocate -e inject=fallocate:delay_enter=700000 -E $preload @{[program('empty')]}
END
	chmod(0755, $late);
	for my $name (sort grep { $built{$_} } keys %built) {
		my $run = run(command => [@{$implementations{$name}{run}}, '-n', 4, $late],
			env => {CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => $faults, CACHEPEEK_OUTPUT => 'stderr'});
		is(reports_in($run->{err}), 1, "$name, a record that is being made: one report") or diag($run->{err});
		like($run->{err}, qr/^ran +4 of 4 ranks/m, "$name, a record that is being made: of four ranks");
	}
}
done_testing();
