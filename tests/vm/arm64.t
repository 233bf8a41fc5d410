#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The perf engine on emulated Arm PMUs, under a real kernel and its driver: what
# it counts is known to the instruction.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Vm;

my $dir = need_vm('arm64');
my $user = '/proc/sys/kernel/perf_user_access';
my $paranoid = '/proc/sys/kernel/perf_event_paranoid';
my $turns = 3_000_000;
my $long = 40_000_000;
# One event under many names is many counters; all count instructions.
my @instructions = map { 'r' . '0' x $_ . '8' } 0 .. 15;
my @six = @instructions[0 .. 5];

sub perf
{
	my ($name, $events, $command, @settings) = @_;
	return join(' ', 'run', $name, @settings, 'CACHEPEEK_ENGINE=perf',
		"CACHEPEEK_EVENTS=$events", $command);
}

my $n1 = boot($dir, 'neoverse-n1', '',
	perf('plain', 'instructions,cycles,INST_RETIRED,perf::INSTRUCTIONS', "/bin/vm_loops $turns 3"),
	perf('read', 'instructions,cycles', '/bin/vm_pairs 1000'),
	perf('eight', join(',', @instructions[0 .. 6], 'cycles'), "/bin/vm_loops $long 1"),
	perf('sixteen', join(',', @instructions), "/bin/vm_loops $long 1"),
	perf('rotated', join(',', @instructions), '/bin/vm_loops 20000 60', 'CACHEPEEK_SCHEDULE=rotate'),
	perf('pass2', join(',', @instructions), "/bin/vm_loops $turns 1", 'CACHEPEEK_PASS=2'),
	perf('six', join(',', @six), "/bin/vm_loops $turns 1"),
	perf('seven', join(',', @instructions[0 .. 6]), "/bin/vm_loops $long 1"),
	perf('silent', 'r03,r16,r3ff,r23,instructions', "/bin/vm_loops $turns 1"),
	'run cache CACHEPEEK_ENGINE=perf CACHEPEEK_GROUPS=cache /bin/vm_loops 1000 1',
	perf('read_eight', join(',', @instructions[0 .. 6], 'cycles'), "/bin/vm_read $long r08"),
	perf('read_silent', 'r3ff', '/bin/vm_read 1000 r3ff'),
	perf('level3', 'INST_RETIRED', '/bin/vm_loops 1000 1', 'uid=65534'),
	'run auto3 uid=65534 /bin/vm_loops 1000 1',
	"set $paranoid 2",
	perf('level2', 'INST_RETIRED,CPU_CYCLES:k', '/bin/vm_loops 1000 1', 'uid=65534'),
	"set $paranoid 1",
	perf('level1', 'INST_RETIRED,CPU_CYCLES:k', '/bin/vm_loops 1000 1', 'uid=65534'),
	"set $user 1",
	perf('mrs', 'instructions,cycles', "/bin/vm_loops $turns 3"),
	perf('mrs_pairs', 'instructions,cycles', '/bin/vm_pairs 1000'),
	perf('mrs_software', 'instructions,cycles,perf::PAGE-FAULTS', '/bin/vm_pairs 1000'),
	perf('mrs_eight', join(',', @instructions[0 .. 6], 'cycles'), "/bin/vm_loops $long 1"));

# ---- exact ----

# A loop of n turns is 2n instructions; all else in the regions is the same in
# both, and in every thread and execution: the constant is 0.
sub ok_exact
{
	my ($run, $what, %factor) = @_;
	my %constant;

	is(status($run), 0, "$what: the program ended well");
	for my $event (sort keys %factor) {
		for my $index (0 .. 2) {
			my $thread = thread($run, $index ? "loop-$index" : 'vm_loops');
			my $one = count(region($thread, 'one'), $event);
			my $loop = count(region($thread, 'loop'), $event);
			my $calls = region($thread, 'loop')->{calls} || 0;

			is($loop->{status}, 'exact', "$what: $event in thread $index is exact");
			is(($loop->{value} // 0) - ($one->{value} // 0),
				$factor{$event} * $calls * 2 * ($turns * ($index + 1) - 1),
				"$what: $event in thread $index: 2 per turn, and nothing else");
			is($loop->{per_call}{min}, $loop->{per_call}{max},
				"$what: $event in thread $index: the same in each execution");
			$constant{$one->{per_call}{min} // 'none'}++;
		}
		is(scalar keys %constant, 1, "$what: a region of one turn costs the same in all threads")
			or diag(join(' ', keys %constant));
		%constant = ();
	}
	return;
}

ok_exact($n1->{plain}, 'read(2)', instructions => 1, cycles => 2, INST_RETIRED => 1,
	'perf::INSTRUCTIONS' => 1);

# ---- user-space reads ----

ok_exact($n1->{mrs}, 'mrs', instructions => 1, cycles => 2);
is($n1->{read}{out}, "marks 2 calls 2000\n", 'without user access: one read(2) per boundary');
is($n1->{mrs_pairs}{out}, "marks 2 calls 0\n", 'with it: a begin/end pair makes no system call');
is($n1->{mrs_software}{out}, "marks 2 calls 2000\n",
	'a software event costs one read(2), the others none');

# ---- more events than counters ----

# All in the whole of a thread, too: nothing is lost between the regions.
sub ok_multiplexed
{
	my ($run, $what, $events, $coverage) = @_;
	my (@off, @bar, @status);

	is(status($run), 0, "$what: the program ended well");
	for my $event (@$events) {
		for my $index (0 .. 2) {
			my $thread = thread($run, $index ? "loop-$index" : 'vm_loops');
			my $count = count(region($thread, 'loop'), $event);
			my $truth = 2 * $long * ($index + 1) * ($event eq 'cycles' ? 2 : 1);
			my $off = abs(($count->{value} // 0) - $truth);
			my $line = "$event in thread $index: " . ($count->{value} // $count->{reason}) .
				", truth $truth, error " . ($count->{error} // 'none') .
				', coverage ' . ($count->{coverage} // 'none');

			push(@off, $line) if $off > 0.005 * $truth;
			push(@bar, $line) if $count->{status} eq 'scaled' && $off > $count->{error};
			push(@status, $line) if $count->{status} ne 'scaled' && $count->{status} ne 'exact';
			push(@status, $line) if $count->{status} eq 'scaled' && ($count->{coverage} < $coverage->[0]
				|| $count->{coverage} > $coverage->[1]);
		}
	}
	ok(!@off, "$what: within 0.5 % of the truth") or diag(join("\n", @off));
	ok(!@bar, "$what: the error bar covers it") or diag(join("\n", @bar));
	ok(!@status, "$what: scaled, covered as the PMU allows") or diag(join("\n", @status));
	return;
}

ok_multiplexed($n1->{eight}, '8 events', [@instructions[0 .. 6], 'cycles'], [0.2, 0.9]);
ok_multiplexed($n1->{sixteen}, '16 events', \@instructions, [0.1, 0.6]);
ok_multiplexed($n1->{seven}, '7 times one event: two groups', [@instructions[0 .. 6]], [0.2, 0.9]);
ok_multiplexed($n1->{mrs_eight}, '8 events, read in user space while they can be',
	[@instructions[0 .. 6], 'cycles'], [0.2, 0.9]);
# Executions are short beside the kernel's slices: each is counted whole.
is(status($n1->{rotated}), 0, 'rotated: the program ended well');
my @rotated;
for my $event (@instructions) {
	for my $index (0 .. 2) {
		my $count = count(region(thread($n1->{rotated}, $index ? "loop-$index" : 'vm_loops'), 'loop'), $event);
		my $truth = 60 * 2 * 20000 * ($index + 1);

		push(@rotated, "$event in thread $index: " . ($count->{status} // 'none') . ' ' .
			($count->{value} // $count->{reason}) . ', error ' . ($count->{error} // 'none'))
			if ($count->{status} // '') ne 'scaled' || abs($count->{value} - $truth) > 0.01 * $truth
			|| abs($count->{value} - $truth) > $count->{error} + 60 * 100;
	}
}
ok(!@rotated, 'rotated: 16 events in turns, steady work within 1 %') or diag(join("\n", @rotated));
# Four passes with five events each, and one in all of them.
is(join(' ', map { count(region(thread($n1->{pass2}, 'vm_loops'), 'loop'), $_)->{status} } @instructions[4 .. 10], 'instructions'),
	'unavailable ' . 'exact ' x 5 . 'unavailable exact', 'CACHEPEEK_PASS=2: its events, and the common one');
like(count(region($n1->{pass2}{report}, 'loop'), $instructions[15])->{reason}, qr/^counted in pass 4 of 4$/,
	'CACHEPEEK_PASS=2: the rest is said to be elsewhere');
for my $event (@six) {
	is(count(region(thread($n1->{six}, 'vm_loops'), 'loop'), $event)->{status}, 'exact',
		"6 events fit: $event is exact");
}

my ($read) = $n1->{read_eight}{out} =~ /^error 0 read (\d+)$/m;
# Few slices, and no error bar: what was counted itself would be half of it.
ok(defined $read && abs($read - 2 * $long) <= 0.05 * 2 * $long,
	'cachepeek_read scales what was multiplexed') or diag($n1->{read_eight}{out});

# ---- zeros that are none ----

like($n1->{read_silent}{out}, qr/^error -61 /m, 'cachepeek_read: a silent event has no count');

for my $event (qw(r03 r16 r3ff)) {
	my $count = count(region($n1->{silent}{report}, 'loop'), $event);

	is($count->{value}, undef, "$event, which the PMU does not have: no value");
	like($count->{reason}, qr/^suspicious: /, "$event: said to be suspicious");
}
is(count(region($n1->{silent}{report}, 'loop'), 'r23')->{value}, 0,
	'r23, which the kernel lists and nothing moved, is 0');
is(count(region($n1->{silent}{report}, 'loop'), 'instructions')->{status}, 'exact',
	'one refused event does not cost the others');
my @presets = grep { /^l\d/ } keys %{region($n1->{cache}{report})->{counts} || {}};
cmp_ok(scalar @presets, '>=', 6, 'the group cache asks for caches');
is(join(' ', grep { defined count(region($n1->{cache}{report}), $_)->{value} } @presets), '',
	'no cache preset has a value on a PMU that has no caches');

# ---- an ordinary user ----

like(notes($n1->{level3}), qr/INST_RETIRED is not counted: .*perf_event_paranoid is 3 .*perf_event_paranoid=2/,
	'paranoid 3: nothing is allowed, 2 would unlock it');
is(status($n1->{level3}), 0, 'and the program runs');
like(notes($n1->{auto3}), qr/simulated PMU.* \(no hardware counters: .*perf_event_paranoid is 3/,
	'without a request: the same reason');
like(notes($n1->{level2}), qr/CPU_CYCLES:k is not counted: .*perf_event_paranoid is 2 .*perf_event_paranoid=1/,
	'paranoid 2: the kernel is not counted, 1 would unlock it');
unlike(notes($n1->{level2}), qr/INST_RETIRED/, 'but user mode is');
is(count(region($n1->{level2}{report}, 'loop'), 'INST_RETIRED')->{status}, 'exact', 'exactly');
is(notes($n1->{level1}), '', 'paranoid 1: nothing to complain about');
cmp_ok(count(region($n1->{level1}{report}), 'CPU_CYCLES:k')->{value} // 0, '>', 0,
	'the kernel is counted');
is($n1->{level1}{report}{engine}{domain}, 'uk', 'and the report says so');

# ---- a CPU that libpfm4 does not know ----

my $a72 = boot($dir, 'cortex-a72', '',
	perf('names', 'INST_RETIRED,perf::INSTRUCTIONS,instructions,cycles', "/bin/vm_loops $turns 1"));
like(notes($a72->{names}), qr/INST_RETIRED/, 'cortex-a72: a native name is not known, and that is said');
is(count(region($a72->{names}{report}, 'loop'), 'INST_RETIRED')->{value}, undef, 'and has no value');
ok_exact($a72->{names}, 'cortex-a72', 'perf::INSTRUCTIONS' => 1, instructions => 1, cycles => 2);

# ---- a PMU without instructions ----

my $free = boot($dir, 'neoverse-n1', 'free',
	perf('missing', 'instructions,perf::INSTRUCTIONS,cycles', '/bin/vm_loops 100000 1'));
for my $event ('instructions', 'perf::INSTRUCTIONS') {
	is(count(region($free->{missing}{report}, 'loop'), $event)->{value}, undef,
		"no icount: $event has no value");
	like(count(region($free->{missing}{report}, 'loop'), $event)->{reason},
		qr/PMU does not have the event|suspicious/, 'and a reason');
}
cmp_ok(count(region($free->{missing}{report}, 'loop'), 'cycles')->{value} // 0, '>', 0,
	'cycles are counted all the same');

done_testing();
