#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek doctor --calibrate on this host: what it measures is a machine file, which
# -m host is from then on.  (What becomes of rounds: tests/unit/tools_calibrate.c.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $program = program('region_pages');
my $file = scratch('made.machine');

sub command
{
	my ($words, %env) = @_;
	return run(command => [cli(), @$words], env => {CACHEPEEK_ENGINE => 'sim', %env});
}
sub doctor { command(['doctor', @_]) }

# Where a host is so busy that no round ends, doctor says so: it is tried again, and then there is
# nothing to test.
sub in_quiet
{
	my ($skipped, @options) = @_;
	my $run;
	for (1 .. 3) {
		$run = run(@options);
		return $run if $run->{err} !~ /^cachepeek: nothing could be measured in 13 seconds: /m;
	}
	skip('nothing can be measured on a host as busy as this', $skipped);
}

# A busy host has no time for a whole round, and then not for what is measured last: it is tried again.
my ($run, $made, $whole);
for (1 .. 3) {
	$run = doctor('--calibrate', '--json', '-o', $file);
	$made = eval { decode_json($run->{out}) } or next;
	$whole = $made->{calibration}{rounds} > 1 || $made->{calibration}{seconds} < 13;
	last if $whole;
}
if (!$made && $run->{err} =~ /^cachepeek: nothing could be measured in 13 seconds: /) {
	plan(skip_all => 'nothing can be measured on a host as busy as this');
}
is(status_text($run->{status}), 'exit 0', 'measured');
is($run->{err}, '', 'nothing is said');
{
	my %figure = map { $_->{figure} => $_ } @{$made->{calibration}{figures}};
	is(scalar(keys %figure), 33, 'figures');
	cmp_ok($made->{calibration}{rounds}, '>=', 1, 'rounds');
	SKIP: {
		skip('no whole round in 13 seconds: the host is busy', 9) unless $whole;
		for my $name (qw(clock width loads stores l1d_latency memory_latency memory_stream mispredict)) {
			ok(defined $figure{$name}{value} && $figure{$name}{value} > 0, "$name: there is one");
		}
		cmp_ok($figure{l1d_latency}{value}, '<', $figure{memory_latency}{value}, 'memory is further away than the L1D');
	}
	my ($l2, $llc) = @figure{qw(l2_latency llc_latency)};
	ok(!$llc->{value} || !$llc->{stable} || $llc->{value} > 1.3 * $l2->{value}, 'the last level is further away than L2')
		or diag("$llc->{value}, $l2->{value}");
	# Nobody knows which of two points of a curve it is nearer to, however alike the rounds are.
	for my $name (qw(dtlb_reach stlb_reach window llc_room llc_stay)) {
		my ($value, $spread) = @{$figure{$name}}{qw(value spread)};
		ok(!defined $value || $made->{calibration}{rounds} < 2 || $figure{$name}{at_least} || ($spread // 0) > 0.01,
			"$name: no nearer than the points of its curve") or diag($run->{out});
	}
	my $check = run(command => ['/usr/bin/python3', source() . '/tests/validate.py',
		source() . '/doc/cachepeek-doctor-1.schema.json', write_file(scratch('doctor.json'), $run->{out})]);
	is(status_text($check->{status}), 'exit 0', 'as its schema says') or diag($check->{out} . $check->{err});
}

# Its clock and latencies, where they are stable, are those of the run.
{
	my ($clock) = read_file($file) =~ /^clock-mhz = (\d+)/m;
	my $run = command(['-m', $file, '-e', 'instructions', '-o', scratch('run.json'), $program, 10, 1]);
	is(status_text($run->{status}), 'exit 0', 'a run on that machine');
	is($run->{err}, '', 'without a complaint');
	ok($clock, 'it has a clock');
	like(read_file($file), qr/^$_ = \d/m, "$_: measured or assumed") for qw(width window mispredict-latency load-ports walk-latency);
	SKIP: {
		skip('no whole round: it does not tell time', 3) unless $whole;
		my $timed = command(['-m', $file, '-e', 'instructions', '-g', 'time', '-o', scratch('time.json'), $program, 10, 1]);
		is(status_text($timed->{status}), 'exit 0', 'its time');
		my ($root) = grep { !@{$_->{path}} } @{decode_json(read_file(scratch('time.json')))->{regions}};
		cmp_ok($root->{metrics}{predicted_time}{value} // 0, '>', 0, 'which is predicted');
		like($root->{counts}{cycles}{reason} // '', qr/^out-of-order timing model/, 'out of order');
	}
}

# As host: the date is in the report.
{
	my $home = "$ENV{XDG_CONFIG_HOME}/cachepeek";
	is(status_text(run(command => ['mkdir', '-p', $home])->{status}), 'exit 0', 'a directory');
	is(status_text(run(command => ['cp', $file, "$home/host.machine"])->{status}), 'exit 0', 'for the file');
	my ($date) = read_file($file) =~ /^measured = (\S+)/m;
	my $run = command(['-v', '-e', 'instructions', $program, 10, 1]);
	like($run->{err} =~ s/\s+/ /gr, qr/measured on \Q$date\E/, 'when host was measured');
	like(doctor()->{out} =~ s/\s+/ /gr, qr/measured on \Q$date\E/, 'doctor says it, too');

	# A virtual machine's part of the last level is measured; or it is assumed, as without the file.
	my $virtual = (read_file('/proc/cpuinfo') // '') =~ /^flags.* hypervisor\b/m && read_file($file) =~ /^llc = \d/m ? 1 : 0;
	for my $assumed ('', ' llc-size') {
		write_file("$home/host.machine", read_file($file) =~ s/ llc-size\b//r =~ s/^assumed = .*\K/$assumed/mr);
		my $told = command(['-v', '-e', 'instructions', $program, 10, 1])->{err} =~ s/\s+/ /gr;
		is($told =~ /; a virtual machine: / ? 1 : 0, $assumed ? $virtual : 0, "host.machine:$assumed: a share is assumed, or not") or diag($told);
	}
	unlink "$home/host.machine";
}

# ---- where it cannot ----

for my $case (
	[['doctor', '-o', $file], 2, qr/^cachepeek: -o FILE goes with doctor --calibrate\n$/, 'a file without it'],
	[['doctor', '--calibrate', '-o', '/dev/null/x'], 1, qr{^cachepeek: .*/dev/null/x.*\n$}, 'a file that cannot be'],
) {
	my ($words, $status, $text, $what) = @$case;
	my $run = command($words);
	is(status_text($run->{status}), "exit $status", $what);
	like($run->{err}, $text, "$what: one line");
}
{
	my $run = run(command => ['sh', '-c', 'ulimit -v 150000; exec "$@"', '-', cli(), 'doctor', '--calibrate', '-o', $file]);
	is(status_text($run->{status}), 'exit 1', 'without memory');
	is($run->{err}, "cachepeek: no memory to calibrate with: 160 MiB are needed, better 640 MiB\n", 'which is said');
}

# In a control group: who takes more than its limit is killed.  (What is read: tests/unit/tools_memory_left.c.)
SKIP: {
	my $group = '/sys/fs/cgroup/memory/cachepeek-test-' . $$;
	skip('no control group can be made', 6) unless -e '/sys/fs/cgroup/memory/memory.limit_in_bytes' && mkdir $group;
	my @in = ('sh', '-c', 'echo $1M > $2/memory.limit_in_bytes && echo $$ > $2/tasks && shift 2 && exec "$@"', '-');
	my $run = run(command => [@in, 150, $group, cli(), 'doctor', '--calibrate', '-o', scratch('never.machine')]);
	is(status_text($run->{status}), 'exit 1', 'a group with too little');
	is($run->{err}, "cachepeek: no memory to calibrate with: 160 MiB are needed, better 640 MiB\n", 'which is said as well');
	ok(!-e scratch('never.machine'), 'and no file is made');
	my $less = in_quiet(2, command => [@in, 200, $group, cli(), 'doctor', '--calibrate', '-o', $file]);
	is(status_text($less->{status}), 'exit 0', 'a group with enough') or diag($less->{err});
	like($less->{out}, qr/^measured in \d+ rounds?, [\d.]+ s, with 32 MiB/m, 'for less memory') or diag($less->{out});
}
rmdir '/sys/fs/cgroup/memory/cachepeek-test-' . $$;

# ---- where it can do less: what could not be measured is assumed ----

# The file is a machine's; how far its times may be off is only said if all figures are stable.
sub ok_assumed
{
	my ($what, @keys) = @_;
	my $text = read_file($file);
	my ($assumed) = $text =~ /^assumed = (.*)$/m;
	my %is = map { $_ => 1 } split ' ', $assumed // '';
	is(join(' ', grep { !$is{$_} } @keys), '', "$what: called assumed") or diag($text);
	my $run = command(['-m', $file, '-g', 'time', '-o', scratch('less.json'), $program, 10, 1]);
	is(status_text($run->{status}), 'exit 0', "$what: a run on that machine");
	is($run->{err}, '', "$what: without a complaint");
	return decode_json(read_file(scratch('less.json')));
}

# The clock of a host where so much else runs that no two measurements are alike.
SKIP: {
	my $run = in_quiet(8, command => [cli(), 'doctor', '--calibrate', '-o', $file],
		env => {LD_PRELOAD => build() . '/tests/programs/libodd_clock.so', ODD_CLOCK => 'jumps'});
	is(status_text($run->{status}), 'exit 0', 'a clock that jumps');
	is($run->{err}, '', 'a clock that jumps: no error');
	my @said = $run->{out} =~ /^(\d+) of 33 figures are not stable, (\d+) could not be measured: the file assumes what time needs of them$/mg;
	is($said[0] + $said[1], 33, 'a clock that jumps: none is stable, says one line') or diag($run->{out});
	like($run->{out}, qr/^no time is predicted by it, for want of l2, .*: calibrate again when the machine is quieter$/m, 'nor does it tell time, says another');
	my $report = ok_assumed('a clock that jumps', qw(walk-latency width window mispredict-latency load-ports store-ports walkers fill-buffers));
	like($report->{no_spreads} // 'there is no time', qr/^(the machine file does not say|there is no time)/, 'and no interval');
	is($report->{regions}[0]{metrics}{predicted_time}{error}, undef, 'of the time');
}
{
	my $run = run(command => [cli(), 'doctor', '--calibrate', '-o', scratch('never.machine')],
		env => {LD_PRELOAD => build() . '/tests/programs/libodd_clock.so', ODD_CLOCK => 'none'});
	is(status_text($run->{status}), 'exit 1', 'no clock');
	is($run->{err}, "cachepeek: no clock to calibrate by: Operation not permitted\n", 'which is said in one line');
	ok(!-e scratch('never.machine'), 'and no file is made of it');
}

# Where sysfs does not tell the sizes of caches, CPUID may; where nothing does, other levels may have
# been measured.
SKIP: {
	my @hidden = ('unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /sys || exit 77; exec "$@"', '-');
	my $run = in_quiet(4, command => [@hidden, cli(), 'doctor', '--calibrate', '-o', $file]);
	skip('/sys cannot be hidden', 4) if $run->{status} && $run->{out} !~ /measured in/;
	is(status_text($run->{status}), 'exit 0', 'no sizes') or diag($run->{err});
	if ((read_file($file) // '') =~ /^host = \S+,[1-9]\d*x[1-9]\d*,[1-9]\d*x\d+,\d+x\d+$/m && read_file($file) =~ /^l2 = .* latency=.*measured/m) {
		unlike($run->{out}, qr/tells the sizes of caches/, 'no sysfs: sizes by CPUID');
		ok_assumed('no sysfs');
	} else {
		like($run->{out}, qr/^neither sysfs nor CPUID tells the sizes of caches: what is measured by them is assumed$/m, 'no sizes: says one line');
		ok_assumed('no sizes', qw(l2 llc l2-cycles-per-line store-cycles-per-line));
	}
}

# Nor does a host that is so busy that the memory alone takes all of the time.
{
	my $run = run(command => [cli(), 'doctor', '--calibrate', '-o', scratch('never.machine')],
		env => {LD_PRELOAD => build() . '/tests/programs/libodd_clock.so', ODD_CLOCK => 'leaps'});
	is(status_text($run->{status}), 'exit 1', 'no time');
	is($run->{err}, "cachepeek: nothing could be measured in 13 seconds: calibrate again when the machine is quieter\n", 'no time: says one line');
	ok(!-e scratch('never.machine'), 'no time: and no file is made of it');
}

# A filter that refuses threads, affinity and huge pages.
SKIP: {
	my %number = (x86_64 => [56, 435, 203, 204, 28], aarch64 => [220, 435, 122, 123, 233]);
	my ($here) = map { chomp; $_ } run(command => ['uname', '-m'])->{out};
	skip('numbers of system calls', 4) unless $number{$here};
	my $run = in_quiet(8, command => [program('deny'), @{$number{$here}}, '--', cli(), 'doctor', '--calibrate', '--json', '-o', $file]);
	skip('this kernel takes no filters', 4) if $run->{status} == 77 << 8;
	is(status_text($run->{status}), 'exit 0', 'a filter') or diag($run->{err});
	my %figure = map { $_->{figure} => $_ } @{decode_json($run->{out})->{calibration}{figures}};
	is($figure{transfer_latency}{value}, undef, "without threads: no other core's line");
	unlike(read_file($file), qr/^cache-to-cache-latency/m, 'nor one in the file');
	like(read_file($file), qr/^# No huge pages: latencies have page walks in them\.$/m, 'without huge pages, which the file says');
	ok_assumed('a filter', 'write-buffers');
}
{
	my $run = run(command => [cli(), 'doctor', '--calibrate'], env => {HOME => undef, XDG_CONFIG_HOME => undef});
	is(status_text($run->{status}), 'exit 2', 'no home');
	is($run->{err}, "cachepeek: neither HOME nor XDG_CONFIG_HOME is set: name a file with -o\n", 'which is said, too');
}

done_testing;
