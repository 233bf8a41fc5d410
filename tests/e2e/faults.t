#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Each system call that the library makes fails, one per run, with each errno that
# is likely for it: the program's output and status are what they are without
# the library, and there is a complete report, or a line that says what is not.
# FAULTS=all: the whole campaign, hours, or those parts whose name matches FAULTS;
# with FAULTS_ERRNOS=1 each call fails once, with the errno whose turn it is.
# Otherwise one program and the likeliest errno.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use File::Path qw(remove_tree);
use POSIX qw(uname);
use Test::More;

need_perf();
plan(skip_all => 'the driver knows x86-64 only') unless (uname())[4] eq 'x86_64';
my $all = $ENV{FAULTS};
my $log = scratch('faults.log');

# Every region of every process, with its calls.
sub shape
{
	my ($report) = @_;
	return 'no report' unless $report;
	return join(' ', scalar(@{$report->{processes} || []}),
		map { join('/', @{$_->{path}}) . "=$_->{calls}" } @{$report->{regions} || []});
}

sub fail_at
{
	my ($k, $variant, %run) = @_;
	my $directory = scratch('run');
	local $run{env} = {CACHEPEEK_DIR => $directory} if $run{own_directory};
	# A run of before would be a call more.
	remove_tree($run{own_directory} ? $directory : $ENV{XDG_CACHE_HOME});
	my $run = peek(%run, under => [program('faults'), $log, $k, $variant]);
	my $what = read_file($log) // '';
	chomp($what);
	return ($run, $what);
}

# The faults of this run; none: "".  A run's directory that is gone (ENOENT) is one of
# a run that is over: what still starts is a run of its own, and needs no line.
sub faults
{
	my ($run, $plain, $shape, $call) = @_;
	my $over = $call eq 'faccessat 2';
	my @faults;
	push(@faults, 'other output') if $run->{out} ne $plain->{out};
	push(@faults, "other errors: $run->{err}") if $run->{err} ne $plain->{err};
	push(@faults, status_text($run->{status})) if ($run->{status} // -1) != $plain->{status};
	my $warnings = @{$run->{report}{warnings} || []};
	push(@faults, 'silent: ' . shape($run->{report}))
		if shape($run->{report}) ne $shape && !notes($run) && !$warnings && !$over;
	push(@faults, notes($run) . ' lines') if notes($run) > 2;
	return join('; ', @faults);
}

# The variants to try of the Kth call, up to one that it has not; each has the first.
sub variants
{
	my ($k, $most) = @_;
	return $ENV{FAULTS_ERRNOS} ? ($k % $most, 0) : 0 .. $most - 1;
}

sub campaign
{
	my ($what, $variants, %run) = @_;
	my $plain = run(%run);
	my ($full, $past) = fail_at(1_000_000, 0, %run);
	my ($total) = $past =~ /^past (\d+)$/;
	my $shape = shape($full->{report});
	my (@bad, %seen);
	ok($total && $total > 20, "$what: system calls of the library") or diag($past);
	ok($full->{report}, "$what: a report, traced and without a fault") or diag(@{$full->{notes}});
	for my $k (1 .. $total || 0) {
		for my $variant (variants($k, $variants)) {
			my ($run, $call) = fail_at($k, $variant, %run);
			$ENV{FAULTS_ERRNOS} ? next : last if $call =~ /^no such/;
			next if $call =~ /^past/;
			my $faults = faults($run, $plain, $shape, $call);
			$seen{(split(' ', $call))[0]}++;
			push(@bad, "$k: $call: $faults", @{$run->{notes}}) if $faults;
			last if $ENV{FAULTS_ERRNOS};
		}
	}
	diag("$what: $total calls, " . join(' ', map { "$_ $seen{$_}" } sort keys %seen)) if $all;
	is(scalar(@bad), 0, "$what: nothing changes and nothing is silent") or diag(join("\n", @bad));
	ok($seen{mmap} && $seen{openat} && ($run{engine} eq 'sim' || $seen{perf_event_open}), "$what: calls that were made to fail");
}

my $regions = program('region_nested');
if (!$all) {
	campaign('perf', 1, engine => 'perf', command => [$regions], own_directory => 1);
	done_testing();
	exit;
}
my $shell = '"$0"; (exit 3); echo $?';
my @campaigns = (
	['perf', engine => 'perf', command => [$regions]],
	['perf, many groups', engine => 'perf', command => [$regions],
		groups => join(',', grep { /./ } (map { s{.*/}{}r =~ s/\.group$//r }
			sort glob(source() . '/output/groups/*.group'))[0 .. 15])],
	['perf, its own directory', engine => 'perf', command => [$regions], own_directory => 1],
	['perf, threads', engine => 'perf', command => [program('region_threads')]],
	['perf, children', engine => 'perf', command => ['sh', '-c', $shell, $regions]],
	['sim', engine => 'sim', events => 'instructions', command => [$regions]],
	['auto', engine => 'auto', events => 'perf::PAGE-FAULTS,l1d_misses', command => [$regions]],
);
for my $campaign (@campaigns) {
	my ($what, %run) = @$campaign;
	campaign($what, 5, %run) if $ENV{FAULTS} eq 'all' || $what =~ /$ENV{FAULTS}/;
}
done_testing();
