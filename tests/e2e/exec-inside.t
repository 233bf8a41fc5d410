#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Regions that are open when their process executes another program: counted to there;
# and as ever if there is no such program.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $program = program('exec_inside');

sub counted
{
	my ($engine, $events, @arguments) = @_;
	my $run = peek(engine => $engine, events => $events, command => [$program, @arguments], output => scratch('x.json') . ',' . scratch('x.txt'));
	return (Json::decode_json(read_file(scratch('x.json'))), read_file(scratch('x.txt')));
}

sub between
{
	my ($got, $least, $more, $what) = @_;
	ok(defined $got && $got >= $least && $got <= $least + $more, $what) || diag($got // 'nothing');
}

{
	my ($report, $text) = counted('sim', 'l1d_loads,instructions');
	my ($outer, $inner) = (region($report, 'outer'), region($report, 'outer', 'inner'));
	is_deeply([map { $_->{calls} } $outer, $inner], [1, 1], 'exec: one execution of each');
	between($inner->{counts}{l1d_loads}{value}, 3000, 12000, 'exec: the inner one has its loads');
	between($outer->{counts}{l1d_loads}{exclusive}, 6000, 200, 'exec: the outer one its own, without the inner');
	is_deeply([map { $_->{flags} } $outer, $inner], [['at_exec'], ['at_exec']], 'exec: marked');
	like($text =~ s/\s+/ /gr, qr/region inner was open when its process executed another program: counted to there/, 'exec: and the text says so');
	is($outer->{counts}{l1d_loads}{status}, 'simulated', 'exec: not estimated');
}
{
	my ($report) = counted('sim', 'l1d_loads', 'fail');
	my ($outer, $inner) = (region($report, 'outer'), region($report, 'outer', 'inner'));
	is_deeply([map { ($_->{calls}, $_->{flags}) } $outer, $inner], [1, undef, 1, undef], 'no program: nothing of an exec');
	between($outer->{counts}{l1d_loads}{exclusive}, 6000, 200, 'no program: what was counted to there is counted once');
	my $loads = $inner->{counts}{l1d_loads};
	between($loads->{value}, 3000, 12000, 'no program: inside, too');
	is_deeply([@{$loads->{per_call}}{qw(min max)}], [($loads->{value}) x 2], 'no program: one execution, of all of it');
	is($report->{processes}[0]{exit}{how}, 'exit', 'no program: it has ended by itself');
}
SKIP: {
	skip('the kernel counts nothing here', 2) unless can_count('software');
	my ($report) = counted('perf', 'perf::PAGE-FAULTS');
	is_deeply([map { region($report, @$_)->{calls} } ['outer'], ['outer', 'inner']], [1, 1], 'perf: one execution of each');
	is_deeply([map { region($report, @$_)->{counts}{'perf::PAGE-FAULTS'}{status} } ['outer'], ['outer', 'inner']], [('exact') x 2],
		'perf: with what was counted');
}
for my $end (['to an exec', 'pause'], ['to the end', 'pause', 'fail', 'leave']) {
	my ($what, @arguments) = @$end;
	my ($report) = counted('sim', 'l1d_loads', @arguments);
	my ($outer, $inner) = (region($report, 'outer'), region($report, 'outer', 'inner'));
	between($inner->{counts}{l1d_loads}{value}, 3000, 2500, "a pause $what: not counted inside");
	between($outer->{counts}{l1d_loads}{exclusive}, 6000, 200, "a pause $what: nor outside");
}
{
	my ($report, $text) = counted('sim', 'l1d_loads', 'thread');
	is(region($report, 'waiting')->{counts}{l1d_loads}{value}, undef, 'open in a thread that the exec ends: not known');
	like($text, qr/^— *: waiting: no execution of it had ended$/m, 'and the text says why');
	is(region($report, 'outer')->{calls}, 1, 'what the caller had open is known');
}
done_testing();
