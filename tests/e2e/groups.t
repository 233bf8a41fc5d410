#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Groups in whole runs: constants that the user sets, checks that fail, and the
# lists of what a processor can answer.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# A small machine, so that there are misses of every level.
my $machine = write_file(scratch('small.machine'), <<'END');
l1i = 32K 8 64
l1d = 4K 4 64
l2 = 256K 8 64
llc = 1M 16 64
END
my @sim = (engine => 'sim', machine => $machine);
my @matmul = (command => [program('matmul')]);

sub metric { $_[0]{report}{regions}[0]{metrics}{$_[1]} }

# Within what a report prints of a number.
sub near
{
	my ($got, $expected, $what) = @_;
	ok(abs($got - $expected) < 1e-6, $what) || diag("$got, not $expected");
}

# ---- constants ----

my $doubles = peek(@sim, groups => 'memlevel', @matmul);
my $vectors = peek(@sim, groups => 'memlevel', @matmul, env => {CACHEPEEK_LET => 'ELEMENT=16,LAT_MEM=1e3'});

# frac_mem as it should be with so many references of one line.
sub from_memory
{
	my ($run, $n) = @_;
	my $total = $run->{report}{regions}[0];
	return value($total, 'beyond_l2_fills') * $n / value($total, 'l1d_accesses');
}

cmp_ok(from_memory($doubles, 8), '>', 0, 'lines come from beyond L2');
near(metric($doubles, 'frac_mem')->{value}, from_memory($doubles, 8), '8 references of 8 bytes to a line of 64');
near(metric($vectors, 'frac_mem')->{value}, from_memory($vectors, 4), '4 of 16 bytes with ELEMENT=16');
is(metric($doubles, 'frac_mem')->{status}, 'simulated', 'the shares are as good as the counts');
is(metric($doubles, 'time_mem_share')->{status}, 'estimated', 'the time is estimated');
my %frac = map { $_ => metric($vectors, "frac_$_")->{value} } qw(l1 l2 mem);
near($frac{l1} + $frac{l2} + $frac{mem}, 1, 'the shares add up to 1');
my $cost = $frac{l1} * 4 + $frac{l2} * 14 + $frac{mem} * 1000;
near(metric($vectors, 'time_mem_share')->{value}, $frac{mem} * 1000 / $cost,
	'references x latency, as LAT_MEM says');
my $text = peek(@sim, groups => 'memlevel', @matmul, output => '-,' . scratch('whole.txt'),
	env => {CACHEPEEK_LET => 'ELEMENT=16,LAT_MEM=1e3'});
like($text->{out}, qr/^~ +latencies: .*MEMORY_CYCLES\s+1000\s+\(yours\),\s+ELEMENT\s+16$/ms, 'the report says what was assumed');
like(read_file(scratch('whole.txt')), qr/^assumed: ELEMENT 16 \(bytes per reference.*^latencies: .*MEMORY_CYCLES\s+1000\s+\(yours\)/ms,
	'the whole of it what that means, too');

my $wrong = peek(@sim, groups => 'memlevel', @matmul,
	env => {CACHEPEEK_LET => 'ELEMENT=-1,ELEMNT=4,LAT_MEM=1000'});
like("@{$wrong->{notes}}", qr/CACHEPEEK_LET: ELEMENT=-1 is not a number above 0: 8 is used/, 'a value that cannot be');
like("@{$wrong->{notes}}", qr/CACHEPEEK_LET: no group of this run has a constant ELEMNT/, 'a misspelt constant');
near(metric($wrong, 'frac_mem')->{value}, from_memory($wrong, 8), 'neither changes anything');
isnt(metric($wrong, 'time_mem_share')->{value}, metric($doubles, 'time_mem_share')->{value},
	'and the others count all the same');

# ---- the true shares, where they are known ----

my %served = map { $_ => metric($doubles, "served_$_") } qw(l1 l2 beyond);
is_deeply([map { $served{$_}{status} } qw(l1 l2 beyond)], [('simulated') x 3], 'who served references is counted');
near($served{l1}{value} + $served{l2}{value} + $served{beyond}{value}, 1, 'each of them');
my $misses = value($doubles->{report}{regions}[0], 'l1d_misses') / value($doubles->{report}{regions}[0], 'l1d_accesses');
near($served{l1}{value}, 1 - $misses, 'L1 serves what does not miss');
my $shares = peek(@sim, groups => 'memlevel', @matmul, output => '-')->{out};
like($shares, qr/from +from +beyond +model +model +model/, 'they stand before the shares of the model, which are called so');
unlike($shares, qr/^.{81}/m, 'in 80 columns');

# A loop that stays in L1 after its first lines: the model is far off, and stands beside.
my $kernel = peek(engine => 'sim', machine => 'pentium-pro', groups => 'memlevel', @matmul)->{report}{regions}[0]{metrics};
cmp_ok($kernel->{served_l1}{value}, '>', $kernel->{frac_l1}{value}, 'pentium-pro: L1 serves more than the model says');

# ---- checks and clamps ----

my $group = write_file(scratch('strange.group'), <<'END');
@group strange
@need l1d_loads l1d_stores instructions
loads_share [ratio] = clamp(instructions / l1d_loads, 0, 1)
stores_share [ratio] = l1d_stores / (l1d_loads + l1d_stores)
@check instructions <= l1d_loads "every instruction loads"
@check l1d_loads + l1d_stores ~ l1d_loads + l1d_stores "never said"
@check l1d_loads <= instructions "never said"
@columns instructions "instr" | loads_share "loads"
END
my $strange = peek(@sim, groups => $group, @matmul);
my @warnings = @{$strange->{report}{warnings}};
my ($instructions, $loads) = map { value($strange->{report}{regions}[0], $_) } qw(instructions l1d_loads);
is(scalar(@warnings), 2, 'two warnings') || diag(@warnings);
is($warnings[0], "instructions ($instructions) should be at most l1d_loads ($loads): every instruction loads",
	'a check that fails is a warning with both counts');
like($warnings[1], qr{^loads_share: instructions / l1d_loads was \d\.\d+, which cannot be: taken as 1\.0000$},
	'so is a clamp');
is(metric($strange, 'loads_share')->{status}, 'estimated', 'whose value is estimated');
like(metric($strange, 'loads_share')->{reason}, qr/which cannot be/, 'with the reason');
is(metric($strange, 'stores_share')->{reason}, undef, 'others have none');

# ---- lists ----

sub list
{
	my $run = run(command => [cli(), 'list', @_]);
	is(status_text($run->{status}), 'exit 0', "list @_") || diag($run->{err});
	return $run->{out};
}

# The needs of groups of a PMU: "GROUP: …" to its line about the PMU.
sub plans
{
	my ($pmu) = @_;
	my %plan;
	my $group;
	for (split /\n/, list('groups', '--pmu', $pmu)) {
		$group = $1 if /^([\w-]+): /;
		$plan{$group} = $1 if /^ +\Q$pmu\E: (.*)$/;
	}
	return \%plan;
}

# Passes worked out by hand from what the counters may count.
my $skx = plans('skx');
is($skx->{'dtlb-levels'}, 'complete, 2 passes', 'skx: six DTLB events on four counters');
is($skx->{'load-levels'}, 'complete, 2 passes', 'skx: seven load events');
is($skx->{'stalls'}, 'partial, 2 passes; lacks stall_frontend', 'skx: six stall events, and one that it has not');
like(plans('arm_n2')->{'l2-effectiveness'}, qr/^complete, 3 passes/, 'arm_n2: 14 events on six counters');
my $zero = write_file(scratch('zero.group'), '@group zero' . "\n" . '@need load_l1_miss load_l2_miss' . "\n");
like(list('groups', '--pmu', 'core', $zero), qr/core: complete, 2 passes/, 'core: two events that counter 0 alone counts');
like(plans('power9')->{'dcache'}, qr/^complete, 1 pass/, 'power9: one counter each');
like(plans('armv5_xscale')->{'dcache-four'}, qr/^partial, 1 pass; lacks l1d_writebacks/,
	'armv5_xscale: the four events of the combined mode at once');
is(plans('ppro')->{'memlevel'}, 'complete, 4 passes', 'ppro: seven events on two counters');
like(plans('netburst')->{'memlevel'}, qr/^not usable; lacks l1d_accesses/, 'netburst: no event for all references');

my $netburst = list('presets', '--pmu', 'netburst');
like($netburst, qr/^  l1d_load_misses +perf_raw::r4a0002000000a001\n +or +perf::L1-DCACHE-LOAD-MISSES\n +counts loads; replay/m,
	'netburst: the code that the kernel tags');
unlike($netburst, qr/replay_event:NBOGUS:L1_LD_MISS$/m, 'and not the one that nobody tags');
like(list('presets', '--pmu', 'skx', 'imc_reads'), qr/^  skx +-$/m, 'skx itself has no imc_reads');
like(list('presets', '--pmu', 'skx'), qr/^beside it, for the whole socket: skx_unc_imc0 /m, 'what is beside it has');
is(scalar(split /\n/, list('presets', '--pmu', 'all')), 119, 'all PMUs');
like(list('presets', '--check'), qr/^118 PMUs, \d+ presets, \d+ events: 0 broken$/m, 'and no event is broken');

my $misspelt = run(command => [cli(), 'list', 'presets', '--pmu', 'netbrust']);
is(status_text($misspelt->{status}), 'exit 2', 'a misspelt PMU');
like($misspelt->{err}, qr/there is no PMU "netbrust": did you mean "netburst"\?/, 'gets the nearest');

done_testing();
