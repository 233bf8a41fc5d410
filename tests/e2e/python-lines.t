#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Misses by function and line of Python (tests/programs/places.py): what the lines of a
# program miss is known, whichever instructions of the interpreter do.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(sum0);
use Peek;
use Test::More;

my $LINES = 20000; # of places.py
my $program = source() . '/tests/programs/places.py';
my $python = which('python3');
my ($version) = run(command => [$python, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'])->{out} =~ /^(3\.\d+)$/;
my $machine = machine_file('places', dtlb => '128 128', stlb => 'none'); # the interpreter fits, the data does not
my $runs = 0;

sub profile
{
	my ($measurement, $options, @command) = @_;
	my $file = scratch('python' . ++$runs . '.json');
	my $run = run(command => [cli(), $measurement, (grep { $_ eq '-m' } @$options) ? () : ('-m', $machine), @$options, '-o', $file, @command]);
	my $profile = eval { decode_json(read_file($file) // '') };
	ok($profile, "$measurement @$options: a profile") or BAIL_OUT($run->{err});
	return $profile;
}

# The lines of the program that a comment names.
my @text = split(/\n/, read_file($program));
my %at = map { $text[$_] =~ /  # (\w+)$/ ? ($1 => $_ + 1) : () } 0 .. $#text;

sub line
{
	my ($profile, $file, $line) = @_;
	my ($found) = grep { $_->{file} eq $file && $_->{line} == $line } @{$profile->{python_lines}};
	return $found ? $found->{counts} : {};
}

sub function
{
	my ($profile, $name) = @_;
	my ($found) = grep { $_->{function} eq $name } @{$profile->{python_functions}};
	return $found || {counts => {}, module => '', statements => []};
}

# So many, and few that the interpreter has beside them.
sub ok_misses
{
	my ($counts, $n, $what, $name) = @_;
	my $misses = $counts->{$name || 'l1d_load_misses'} // -1;
	ok($misses >= 0.99 * $n && $misses <= 1.05 * $n + 100, "$what: $misses") or diag("not $n");
}

sub check_lines
{
	my ($profile, $what) = @_;
	ok_misses(line($profile, $program, $at{walk}), 3 * $LINES, "$what: a line that a child runs, too");
	ok_misses(line($profile, $program, $at{crc}), $LINES, "$what: a line that calls C, which releases the lock");
	ok_misses(line($profile, $program, $at{method}), 3 * $LINES, "$what: a line that threads run, too");
	ok_misses(line($profile, $program, $at{far}), $LINES, "$what: a line far behind the one before it");
	ok_misses(line($profile, $program, $at{generator}), $LINES, "$what: a line of a generator");
	ok_misses(line($profile, $program, $at{$_}), $LINES / 4, "$what: line $_ of two that the same instruction reads the same data for")
		for qw(one two);
}

SKIP: {
	skip("Python $version is not one whose frames are known", 1) unless $version =~ /^3\.1[123]$/;

	my $profile = profile('dcache', [], $python, $program);
	check_lines($profile, $version);
	ok_misses(line($profile, 'made.py', 3), $LINES, 'a line of code that was made at run time');

	# ---- functions ----

	for my $name ('walk', 'größe', 'Table.walk', 'far', 'each', 'shuffled', 'main') {
		is(function($profile, $name)->{module}, $program, "$name: its file");
	}
	is(function($profile, 'made')->{module}, 'made.py', 'made: its file');
	ok_misses(function($profile, 'größe')->{counts}, $LINES, 'größe: its own');
	my $shuffle = function($profile, 'Random.shuffle');
	like($shuffle->{module}, qr{/random\.py$}, 'a function of a library: its file');
	cmp_ok($shuffle->{counts}{l1d_load_misses}, '>', $LINES, '... and what it missed');
	cmp_ok(line($profile, $program, $at{library})->{l1d_load_misses}, '>=', $shuffle->{counts}{l1d_load_misses},
		'... which the line that called it has, too');
	cmp_ok(function($profile, 'shuffled')->{counts}{l1d_load_misses} // 0, '<', $LINES, '... and not its function by itself');
	my ($text) = grep { $_->{line} == $at{far} } @{function($profile, 'far')->{statements}};
	ok_misses($text->{counts}, $LINES, 'far: by its own lines');

	# ---- sums ----

	for my $count (qw(l1d_load_misses l1d_store_misses l2_load_misses load_latency)) {
		my ($functions, $lines) = map { my $rows = $_; sum0(map { $_->{counts}{$count} // 0 } @{$profile->{$rows}}) }
			qw(python_functions python_lines);
		my $modules = sum0(map { $_->{counts}{$count} // 0 } @{$profile->{modules}});
		is($functions, $lines, "$count: functions and lines have the same");
		ok($lines > 0.5 * $modules && $lines <= $modules, "$count: not more than there are") or diag("$lines of $modules");
		is(sum0(map { $_->{counts}{$count} // 0 } map { @{$_->{statements}} } @{$profile->{python_functions}}), $functions,
			"$count: statements add up to functions");
	}
	my %lines = map { $_->{line} => 1 } grep { $_->{file} eq $program } @{$profile->{python_lines}};
	is_deeply([grep { $_ > @text || $text[$_ - 1] !~ /\S/ } sort { $a <=> $b } keys %lines], [], 'no empty line has any');

	# ---- annotated ----

	my $json = scratch('annotated.json');
	my $annotated = run(command => [cli(), 'annotate', '-m', $machine, 'places.py', $python, $program])->{err};
	my ($line) = $annotated =~ /^(.*?) +$at{crc}  .*# crc$/m;
	ok_misses({l1d_load_misses => (split(' ', $line // ''))[2] =~ tr/,//dr}, $LINES, 'annotate: a line, with its misses');
	like($annotated, qr/^source +\Q$program\E: [\d.]+ % of the run's, with what Python's libraries missed for it$/m, '... of which');
	run(command => [cli(), 'dcache', '-m', $machine, '-o', $json, $python, $program]);
	like(run(command => [cli(), 'annotate', '-i', $json, 'places.py'])->{out}, qr/^ *\S+ +2\d,\d{3} .* $at{crc}  .*# crc$/m, '... of the JSON');
	like(run(command => [cli(), 'annotate', '-i', $json, 'random.py'])->{out}, qr/^source +\S*random\.py: [\d.]+ % of the run's$/m,
		'... of a library, what that missed');

	like(run(command => [cli(), 'annotate', '-i', $json, 'absent.py'])->{err},
		qr/^cachepeek: no line of absent\.py has a miss in this run; those that have most: \S+\.py, /, 'annotate: a file of Python that has none');

	# ---- findings ----

	my $sliced = write_file(scratch('sliced.py'), "data = bytes(1 << 24)\n\ndef part():\n    return data[::1024]\n\nfor _ in range(8):\n    part()\n");
	my ($stride) = grep { $_->{rule} eq 'stride' } @{profile('dcache', [], $python, $sliced)->{findings}};
	is_deeply($stride->{python}, {file => $sliced, line => 4, function => 'part'}, 'a finding names the line of Python');
	like(run(command => [cli(), 'dcache', '-m', $machine, $python, $sliced], env => {COLUMNS => 80})->{err} =~ s/\s+/ /gr,
		qr/stride: \S+(?: \(\S+\))?, for part \(sliced\.py:4\) /, '... in the text, too');

	my $objects = write_file(scratch('objects.py'), "import random\n\nclass Point:\n    __slots__ = ('x', 'mass')\n" .
		"    def __init__(self, mass):\n        self.x = self.mass = float(mass)\n\ndef total(points):\n    total = 0.0\n" .
		"    for point in points:\n        total += point.mass\n    return total\n\n" .
		"points = [Point(i) for i in range(40000)]\nrandom.shuffle(points)\nfor _ in range(5):\n    total(points)\n");
	my @of_total = grep { ($_->{python}{function} // '') eq 'total' && $_->{rule} =~ /^(?:cold-updates|unprefetched)$/ }
		@{profile('dcache', [], $python, $objects)->{findings}};
	ok(scalar @of_total, 'objects here and there are a finding');
	is_deeply([grep { $_->{advice} !~ /\APython's objects lie where they were made, / } @of_total], [], '... with what helps in Python');
	my %said;
	$said{"$_->{rule} $_->{python}{line}"}++ for @of_total;
	is_deeply([grep { $said{$_} > 1 } sort keys %said], [], '... once for each line of Python');

	# ---- compared ----

	my %same = (before => 'rows[i][j]', after => 'rows[j][i]');
	for my $side (sort keys %same) {
		mkdir(scratch($side));
		write_file(scratch("$side/sums.py"), "rows = [bytearray(640) for _ in range(640)]\n\ndef add_up():\n    total = 0\n" .
			"    for j in range(0, 640, 64):\n        for i in range(640):\n            total += $same{$side}\n    return total\n\n" .
			"for _ in range(10):\n    add_up()\n");
		run(command => [cli(), 'dcache', '-m', $machine, '-o', scratch("$side.json"), $python, scratch("$side/sums.py")]);
	}
	my $diff = run(command => [cli(), 'diff', scratch('before.json'), scratch('after.json')], env => {COLUMNS => 100})->{out};
	like($diff, qr/^Python function: miss_cost .*\nsums\.py\/add_up .* -[89]\d\.\d %/m, 'diff: a function of Python costs less') or diag($diff);

	# ---- other machines, measurements, samples ----

	my $other = machine_file('placed', l2 => '256K 8 64 qlru_h00_m1_r2_u1 inclusive');
	check_lines(profile('dcache', ['-m', $other], $python, $program), 'a machine that is not plain');
	ok_misses(line(profile('dtlb', [], $python, $program), $program, $at{far}), $LINES / 64, 'dtlb: pages', 'dtlb_load_misses');
	{
		local $ENV{CACHEPEEK_SAMPLE} = 'fast';
		my $sample = profile('dcache', [], $python, $program);
		ok(!exists $sample->{python_lines}, 'a sample has none');
		is(scalar(grep { /^functions and lines of Python \Q$version\E are not known: a sample has none$/ } @{$sample->{warnings}}), 1,
			'... and says so');
	}
}

# ---- for people ----

my $csv = scratch('lines.csv');
run(command => [cli(), 'dcache', '-m', $machine, '-o', $csv, $python, $program]);
like(read_file($csv), qr/^python-statement,,,\Q$program\E,gr[^,]+,\Q$program\E,$at{crc},,/m, 'CSV: a line') if $version =~ /^3\.1[123]$/;
my $screen = run(command => [cli(), 'dcache', '-m', $machine, $python, $program], env => {COLUMNS => 80})->{err};
like($screen, qr/^Python functions .*?^Python lines, .*?^\S*:$at{library}  .*?^Functions /ms, 'the screen begins with them')
	if $version =~ /^3\.1[123]$/;

# ---- none of Python's ----

ok(!exists profile('dcache', [], program('empty'))->{python_lines}, 'another program has none');
my $taken = profile('dcache', [], program('not_python'), 'nothing')->{python_functions}[0] || {};
is($taken->{function}, 'name', 'what has such variables is taken for it');
ok_misses($taken->{counts}, 3 * (1 << 14), 'three rounds of it');
my %in_turn = map { $_->{line} => $_->{counts} } @{$taken->{statements}};
ok_misses($in_turn{$_}, 3 * (1 << 13), "line $_ of two in turn, by one instruction") for 1, 2;
ok_misses(profile('dcache', [], program('not_python'), 'ended')->{python_functions}[0]{counts}, 1 << 14, 'one of a thread that has left it');
for my $case (qw(state states interpreters frame frames code name length table unmapped protected)) {
	my $run = run(command => [cli(), 'dcache', '-m', $machine, '-o', scratch('not.json'), program('not_python'), $case]);
	is($run->{out}, "done\n", "$case: the program runs") or diag($run->{err});
	is(status_text($run->{status}), 'exit 0', "$case: to its end");
}
# A version that is to come: the same program by another number.
my $newer = scratch('not_python');
write_file($newer, read_file(program('not_python')) =~ s/\x00\x00\x0b\x03\x00{4}/\x00\x00\x63\x03\x00\x00\x00\x00/r);
chmod(0755, $newer);
my $unknown = profile('dcache', [], $newer, 'nothing');
ok(!exists $unknown->{python_lines}, 'an unknown version has no lines');
is_deeply([grep { /Python/ } @{$unknown->{warnings}}],
	['functions and lines of Python 3.99 are not known: those of 3.11, 3.12 and 3.13 are'], '... and says so');
done_testing();
