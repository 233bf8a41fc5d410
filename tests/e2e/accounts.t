#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Software events of nine programs between two readings of the kernel's accounts of the
# same process: one as its last library is constructed and as the first is destroyed,
# one from its fork to its end.
# ACCOUNTS_TABLE=1 prints each event beside what the kernel says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my $paranoid = read_file('/proc/sys/kernel/perf_event_paranoid') // 4;
plan(skip_all => "kernel mode is not ours to count (perf_event_paranoid is $paranoid)")
	if !root() && $paranoid >= 2;

my @events = map { "perf::$_" } qw(PAGE-FAULTS:uk MINOR-FAULTS:uk MAJOR-FAULTS:uk CONTEXT-SWITCHES);
my @short = ('page faults', 'minor', 'major', 'switches');

sub compiled
{
	my ($name, $source, @flags) = @_;
	write_file(scratch("$name.c"), $source);
	my $run = run(command => ['gcc', '-O1', @flags, '-o', scratch($name), scratch("$name.c")]);
	BAIL_OUT("$name: $run->{err}") if $run->{status};
	return scratch($name);
}

my $accounts = <<'C';
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void tell(const char *file, const struct rusage *from, const struct rusage *to)
{
	FILE *out = fopen(file, "w");
	fprintf(out, "%ld %ld %ld %ld\n", to->ru_minflt + to->ru_majflt - from->ru_minflt - from->ru_majflt,
		to->ru_minflt - from->ru_minflt, to->ru_majflt - from->ru_majflt,
		to->ru_nvcsw + to->ru_nivcsw - from->ru_nvcsw - from->ru_nivcsw);
	fclose(out);
}
C
my $inner = compiled('inner.so', $accounts . <<'C', '-shared', '-fPIC');
static struct rusage before;
__attribute__((constructor)) static void constructed(void)
{
	getrusage(RUSAGE_SELF, &before);
}
__attribute__((destructor)) static void destroyed(void)
{
	struct rusage after;
	getrusage(RUSAGE_SELF, &after);
	tell(getenv("ACCOUNTS_INNER"), &before, &after);
}
C
my $outer = compiled('outer', $accounts . <<'C');
int main(int argc, char **argv)
{
	struct rusage before = {0}, after;
	int status;
	pid_t child = fork();
	if (child == 0) {
		setenv("LD_PRELOAD", getenv("ACCOUNTS_PRELOAD"), 1);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	wait4(child, &status, 0, &after);
	tell(getenv("ACCOUNTS_OUTER"), &before, &after);
	return WEXITSTATUS(status);
}
C

my $text = write_file(scratch('lines'), join('', map { ($_ * 7919 % 100003) . "\n" } 1 .. 50000));
my @programs = (
	['gzip', '-c', cli()],
	['sort', $text],
	['xz', '-T2', '-0', '-c', lib()],
	['sqlite3', ':memory:', 'with recursive c(x) as (select 1 union all select x+1 from c where x<50000) select sum(x) from c'],
	['mawk', 'BEGIN{for(i=0;i<50000;i++)a[i]=i}'],
	['tar', 'cf', scratch('a.tar'), '-C', source(), 'tests/e2e'],
	['python3', '-c', 'import json, time; time.sleep(0.01)'],
	['perl', '-e', '$x{$_} = 1 for 1 .. 50000; select(undef, undef, undef, 0.01)'],
	['find', source() . '/tests', '-name', '*.c'],
);

my @rows;
for my $case (@programs) {
	my ($name, @arguments) = @$case;
	SKIP: {
		my $exe = which($name) or skip("no $name", scalar(@events) + 2);
		run(command => [$exe, @arguments]); # its files are in memory: a thread waits for none of their pages
		my $run = peek(engine => 'perf', events => join(',', @events), command => [$outer, $exe, @arguments],
			env => {LD_PRELOAD => undef, ACCOUNTS_PRELOAD => "$inner:" . lib(),
				ACCOUNTS_INNER => scratch('inner.txt'), ACCOUNTS_OUTER => scratch('outer.txt')});
		is(status_text($run->{status}), 'exit 0', "$name: ends as alone");
		my $report = $run->{report};
		ok($report && @{$report->{processes}} == 1, "$name: one process") or diag($run->{err});
		my @least = split(/ /, read_file(scratch('inner.txt')) // '');
		my @most = split(/ /, read_file(scratch('outer.txt')) // '');
		chomp(@least, @most);
		# Before it gets to its counters, a new thread touches its stack and its variables for
		# the first time; it may be taken off its processor once, and wait for a page of its code.
		my $new = @{($report && $report->{processes}[0]{threads}) || [0]} - 1;
		$least[$_] -= 2 * $new for 0, 1;
		$least[$_] -= $new for 2, 3;
		my @row = ($name);
		for my $i (0 .. $#events) {
			my $count = $report && region($report)->{counts}{$events[$i]};
			my $got = $count && $count->{status} eq 'exact' ? $count->{value} : undef;
			ok(defined $got && $got >= $least[$i] && $got <= $most[$i], "$name: $short[$i]") or
				diag(($got // 'none') . ", the kernel $least[$i] to $most[$i]");
			push(@row, defined $got ? "$least[$i] <= $got <= $most[$i]" : '-');
		}
		push(@rows, \@row);
	}
}
if ($ENV{ACCOUNTS_TABLE}) {
	print("| $_ |\n") for join(' | ', 'program', @short), join(' | ', map { '---' } 0 .. @short),
		map { join(' | ', @$_) } @rows;
}
done_testing();
