#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The cost of a line, and its source: the same in groups, profiles, and compare.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

# Large enough to miss in every level of these machines.
my @program = (program('matmul'), 96);
my $said = "l1i = 32K 8 64\nl1d = 4K 4 64 latency=3\nl2 = 64K 8 64 latency=8\nllc = 256K 8 64\n"
	. "memory-latency = 60\nassumed = memory-latency\n";
my $stated = write_file(scratch('stated.machine'), $said);
my $silent = write_file(scratch('silent.machine'), $said =~ s/latency=\d+//gr =~ s/^memory.*//sr =~ s/^(memory-latency|assumed).*//gmr);

sub cachepeek
{
	my ($env, @words) = @_;
	return run(command => [cli(), @words], env => {CACHEPEEK_ENGINE => 'sim', %$env});
}

# The report, the profile and the comparison of one machine, with their texts.
sub three
{
	my ($machine, %env) = @_;
	my %of;
	my $group = peek(engine => 'sim', machine => $machine, groups => 'cache,memlevel', command => \@program,
		output => scratch('w.json') . ',' . scratch('w.txt'), env => {%env});

	$of{report} = [decode_json(read_file(scratch('w.json'))), read_file(scratch('w.txt'))];
	cachepeek({%env}, 'dcache', '-m', $machine, '-o', scratch("p.$_"), @program) for qw(json txt);
	$of{profile} = [decode_json(read_file(scratch('p.json'))), read_file(scratch('p.txt'))];
	cachepeek({%env}, 'compare', '-m', $machine, '-g', 'cache,memlevel', '-o', scratch("c.$_"), @program) for qw(json txt);
	$of{compare} = [decode_json(read_file(scratch('c.json')))->{machines}[0], read_file(scratch('c.txt'))];
	return \%of;
}

# All three weigh with these, and each number is made of them.
sub same
{
	my ($what, $of, $cycles, $from) = @_;
	my ($l1, $l2, $llc, $memory) = map { $_ // 0 } @{$cycles}{qw(l1 l2 llc memory)};

	for my $which (sort keys %$of) {
		my ($json, $text) = @{$of->{$which}};
		is_deeply({map { $_ => defined $json->{latencies}{$_} ? 0 + $json->{latencies}{$_} : undef } keys %{$json->{latencies}}},
			$cycles, "$what: $which: the latencies");
		is_deeply($json->{latencies_from}, $from, "$what: $which: and who says so");
		for my $level (grep { defined $from->{$_} && $_ ne 'l1' } sort keys %$from) {
			my $name = {l2 => 'L2', llc => 'L3', memory => 'MEMORY'}->{$level} . '_CYCLES';
			my $who = {machine => 'machine file', assumed => 'assumed', user => 'yours'}->{$from->{$level}};
			my $words = join('\s+', split(' ', quotemeta("$name $cycles->{$level} ($who)") =~ s/\\ / /gr));
			like($text, qr/$words/, "$what: $which: the text names $name");
		}
	}
	for my $region ($of->{report}[0]{regions}[0], $of->{compare}[0]) {
		my %n = map { $_ => $region->{counts}{$_}{value} } keys %{$region->{counts}};
		my %m = map { $_ => $region->{metrics}{$_} } keys %{$region->{metrics}};
		my $behind = defined $cycles->{llc} ? $llc : $memory;
		is_near($m{miss_cycles}{value}, $l2 * $n{l1d_misses} + ($behind - $l2) * $n{l2_misses} + ($memory - $behind) * $n{llc_misses},
			"$what: miss_cycles is made of them");
		is($m{miss_cycles}{status}, 'estimated', "$what: an estimate");
		is_near($m{refs_cost}{value}, $m{frac_l1}{value} * $l1 + $m{frac_l2}{value} * $l2 + $m{frac_mem}{value} * $memory,
			"$what: and what memlevel says");
	}
	my $counts = $of->{profile}[0]{counts};
	is_near($counts->{load_latency}, ($counts->{load_from_l2} // 0) * $l2 + ($counts->{load_from_llc} // 0) * $llc
		+ $counts->{load_from_memory} * $memory, "$what: and the profile's load_latency");
	my ($exact) = $of->{profile}[1] =~ /^Exact counts.*?\n(.*?)\n\n/ms;
	unlike($exact, qr/latency|average/, "$what: which is no exact count");
	like($of->{profile}[1], qr/^Estimates .*?^load_latency +[\d,.]+\n/ms, "$what: but an estimate");
}

same('stated', three($stated), {l1 => 3, l2 => 8, llc => 45, memory => 60},
	{l1 => 'machine', l2 => 'machine', llc => 'assumed', memory => 'assumed'});
same('silent', three($silent), {l1 => 4, l2 => 14, llc => 45, memory => 250}, {map { $_ => 'assumed' } qw(l1 l2 llc memory)});
same('no L3', three('core2duo'), {l1 => 3, l2 => 14, llc => undef, memory => 236},
	{l1 => 'machine', l2 => 'machine', llc => undef, memory => 'machine'});
same('set', three($stated, CACHEPEEK_LET => 'L2_CYCLES=9.5,LAT_MEM=1e3'), {l1 => 3, l2 => 9.5, llc => 45, memory => 1000},
	{l1 => 'machine', l2 => 'user', llc => 'assumed', memory => 'user'});

# A change of the machine is the user's, too.
my $changed = peek(engine => 'sim', machine => $stated, groups => 'cache', command => \@program,
	env => {CACHEPEEK_WHAT_IF => 'L2.latency=11,memory-latency=99'})->{report};
is_deeply($changed->{latencies_from}, {l1 => 'machine', l2 => 'user', llc => 'assumed', memory => 'user'}, 'what --what-if sets');
is($changed->{latencies}{memory}, 99, 'with its number');

# Where the processor itself is counted on, nobody says anything.
my $perf = peek(engine => 'perf', events => 'perf::PAGE-FAULTS', command => [program('matmul')], env => {CACHEPEEK_LET => 'MEMORY_CYCLES=77'})->{report};
is_deeply($perf->{latencies_from}, {l1 => 'assumed', l2 => 'assumed', llc => 'assumed', memory => 'user'}, 'perf: assumed, or the user\'s');

my $wrong = peek(engine => 'sim', machine => $stated, groups => 'cache', command => \@program, env => {CACHEPEEK_LET => 'L2_CYCLES=-3'});
like("@{$wrong->{notes}}", qr/L2_CYCLES=-3 is not a number of cycles above 0: it changes nothing/, 'no latency');
is($wrong->{report}{latencies_from}{l2}, 'machine', 'changes nothing');

# A level that is not there.
my $beyond = peek(engine => 'sim', machine => 'core2duo', groups => 'cache', command => \@program,
	env => {CACHEPEEK_LET => 'L3_CYCLES=50,MEMORY_CYCLES=200'});
is_deeply([grep { /LET/ } @{$beyond->{notes}}], ["cachepeek: CACHEPEEK_LET: L3_CYCLES changes nothing: there is no such level here\n"],
	'no L3: it is said');
is($beyond->{report}{latencies}{llc}, undef, 'no L3: and stays away');

# The lines of the source: from the run, and from the profile's JSON.
cachepeek({CACHEPEEK_LET => 'L2_CYCLES=9.5'}, 'dcache', '-m', $stated, '-o', scratch('l.json'), @program);
for my $how (['a run', '-m', $stated, 'matmul.c', @program], ['JSON', '-i', scratch('l.json'), 'matmul.c']) {
	my ($what, @words) = @$how;
	my $lines = cachepeek({CACHEPEEK_LET => 'L2_CYCLES=9.5'}, 'annotate', '-o', '-', @words)->{out};
	like($lines, qr/^latencies: L2_CYCLES 9\.5 \(yours\), L3_CYCLES 45 \(assumed\),\s+MEMORY_CYCLES 60\s+\(assumed\)$/m,
		"annotate, from $what: what estimates weigh with") || diag($lines);
}
done_testing();
