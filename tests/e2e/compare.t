#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# One binary on several simulated machines, side by side: the four on which the
# miss rates of two programs notorious for misses were once compared.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @machines = qw(pentium4-m2 pentium4-m3 opteron-244 core2duo);

# {row}{machine}: the cells of the table.
sub compare
{
	my (@command) = @_;
	my $file = scratch('table.txt');
	my $run = run(command => [cli(), 'compare', '--machines', join(',', @machines), '-o', $file,
		@command]);
	my (%cell, @names);

	for my $line (split /\n/, read_file($file) // '') {
		@names = split ' ', $line if $line =~ /^ +pentium4-m2\b/;
		next unless @names && $line =~ /^(\w+)(?: \[\S+\])? +(\S.*)$/;
		my ($row, $values) = ($1, $2);
		$values =~ s/ %//g;
		@{$cell{$row}}{@names} = map { s/,//gr } split ' ', $values;
	}
	return ($run, \%cell, read_file($file));
}

for my $program (['chase', 20000, 200000], ['columns', 400, 3], ['static_chase', 20000, 200000],
	['static_columns', 400, 3]) {
	my ($name, @arguments) = @$program;
	my ($run, $cell, $text) = compare(program($name), @arguments);
	my $plain = run(command => [program($name), @arguments]);

	is($run->{out}, $plain->{out}, "$name: its output, once");
	is($run->{status}, $plain->{status}, "$name: its status");
	is(scalar(keys %{$cell->{l1d_misses}}), 4, "$name: a column for each machine");
	note(join("\n", grep { /^(?: +pentium|l1d_miss_ratio|l2_miss_ratio|l2_misses|l1d_misses)/ }
		split(/\n/, $text // '')));
	cmp_ok($cell->{l1d_misses}{'pentium4-m2'}, '>=', $cell->{l1d_misses}{'pentium4-m3'},
		"$name: 8 KB miss no less than 16 KB");
	cmp_ok($cell->{l2_misses}{'core2duo'}, '<=', $cell->{l2_misses}{'pentium4-m2'},
		"$name: 4 MB of L2 miss no more than 512 KB");
	# its data fit: what misses comes for the first time
	my ($bytes) = $name =~ /chase/ ? 20000 * (64 + 8) : 400 * 400 * 8;
	cmp_ok($cell->{l2_misses}{'core2duo'}, '<', 1.1 * $bytes / 64 + 3000,
		"$name: on core2duo L2 misses each line once");
	cmp_ok($cell->{l2_miss_ratio}{'core2duo'}, '<', 20, "$name: almost none of the look-ups");
	like($text, qr/^one run: /m, "$name: all from one run");
	like($text, qr/static\s+program: not\s+its\s+children/, "$name: what is not counted") if $name =~ /static/;
	for my $machine (@machines) {
		my $per_cent = 100 * $cell->{l1d_misses}{$machine} / $cell->{l1d_accesses}{$machine};
		cmp_ok(abs($cell->{l1d_miss_ratio}{$machine} - $per_cent), '<=', 0.1,
			"$name, $machine: a ratio is in per cent");
	}
}

# ---- a machine file is found from wherever a process is ----

{
	my $deep = scratch('a' x 70);
	mkdir($deep) or die "$deep: $!";
	my $file = write_file("$deep/own.machine", read_file(source() . '/base/machines/zen3.machine'));
	my $output = scratch('own.json');
	my $run = run(cwd => $deep, command => [cli(), 'compare', '-m', 'zen3,./own.machine', '-o', $output,
		'sh', '-c', 'cd / && exec gzip -h']);
	my $json = Json::decode_json(read_file($output) // '{}');
	my ($ours, $theirs) = map { $_->{counts} } @{$json->{machines} // []};

	is($run->{status}, 0, 'a machine file: counted') or diag($run->{err});
	is_deeply($ours, $theirs, 'a machine file: as the machine it is a copy of');
	my $none = './' . 'b' x 60;
	like(run(command => [cli(), 'compare', '-m', $none, 'true'])->{err}, qr/b: no such file or directory: check the path/,
		'one that is not there');
}

# ---- one run counts what one run for each machine does ----

# The JSON's counts of each machine, by name.
sub counted
{
	my ($run, $names, @command) = @_;
	my $file = scratch('counted.json');
	unlink($file);
	run(%$run, command => [cli(), 'compare', '-m', $names, '-g', 'cache,dtlb', '-o', $file, @command]);
	my $json = eval { Json::decode_json(read_file($file)) } // {machines => []};
	return ($json, map { $_->{name} => $_ } @{$json->{machines}});
}

sub same_apart
{
	my ($what, $run, $expected_runs, $names, @command) = @_;
	my ($json, %together) = counted($run, join(',', @$names), @command);

	is($json->{runs}, $expected_runs, "$what: $expected_runs run(s)");
	for my $name (@$names) {
		my ($alone, %apart) = counted($run, $name, @command);
		my $count = $together{$name}{counts};
		cmp_ok($count->{instructions}{value} // 0, '>', 10000, "$what: $name counts");
		is_deeply($count, $apart{$name}{counts}, "$what: $name counts what it counts alone");
		is_deeply($together{$name}{metrics}, $apart{$name}{metrics}, "$what: $name, and its metrics");
	}
	return ($json, \%together);
}

my $text = write_file(scratch('text'), join('', map { "line $_ of " . ($_ * 7919 % 1000) . "\n" } 1 .. 4000));
{
	my ($json, $together) = same_apart('gzip', {}, 1,
		[@machines, qw(neoverse-n1 neoverse-n2 neoverse-v2 zen3 sapphire-rapids zen4 itanium2)], which('gzip'), '-kc', $text);
	my @misses = map { $_->{counts}{l1d_misses}{value} } values %$together;
	my %different = map { $_ => 1 } @misses;
	cmp_ok(scalar(keys %different), '>', 4, 'gzip: the machines differ');
}

# Plain machines of one L1 and L2: one leads, the others follow.
{
	my $core = "l1i = 64K 4 64\nl1d = 64K 4 64\nl2 = 1M 8 64\nitlb = 48 48\ndtlb = 48 48\ncores = 64\n";
	my @plain = map { write_file(scratch("plain$_->[0].machine"), "$core$_->[1]\n") } [1, "llc = 32M 16 64\nstlb = 1280 5"],
		[2, "llc = none\nstlb = 1280 5"], [3, "llc = 114M 12 64\nstlb = 2048 8"];
	same_apart('one leads', {}, 1, \@plain, which('gzip'), '-kc', $text);
}

# The work of several threads or processes depends on who comes first.
for my $case (['children', which('sh'), '-c', '(exit 3); true | cat; exec /bin/true'], ['threads', program('threads'), 4]) {
	my ($what, @command) = @$case;
	my ($json, %together) = counted({}, 'opteron-244,core2duo,neoverse-n1', @command);
	is($json->{runs}, 1, "$what: one run");
	for my $name (sort keys %together) {
		my ($alone, %apart) = counted({}, $name, @command);
		for my $count (qw(instructions l1d_accesses l1d_misses)) {
			my ($got, $expected) = map { $_->{$name}{counts}{$count}{value} // 0 } \%together, \%apart;
			cmp_ok($expected, '>', 1000, "$what: $name: $count alone");
			my $allowed = $count eq 'l1d_misses' ? 0.15 : 0.05; # few, and who runs when changes some
			cmp_ok(abs($got - $expected), '<', $allowed * $expected, "$what: $name: $count together");
		}
	}
}
{
	my ($json, %both) = counted({}, 'ixp45x,zen3,cachegrind,core2duo', which('gzip'), '-kc', $text);
	is($json->{runs}, 3, 'half lines of 32 bytes, and iterations that are instructions, need another run');
	is($both{zen3}{run}, $both{core2duo}{run}, 'machines with the same lines do not');
	isnt($both{zen3}{run}, $both{$_}{run}, "$_ is told apart from that") for qw(ixp45x cachegrind);
	cmp_ok($both{ixp45x}{counts}{l1d_misses}{value}, '>', 0, 'which counts');
	is($both{ixp45x}{counts}{l2_misses}{value}, undef, 'what it does not have is null');
	like($both{ixp45x}{counts}{l2_misses}{reason}, qr/ixp45x has no L2/, 'with a reason');

	my $schema = source() . '/doc/cachepeek-compare-1.schema.json';
	my @validate = ('/usr/bin/python3', source() . '/tests/validate.py', $schema);
	my $valid = run(command => [@validate, scratch('counted.json')]);
	is($valid->{out}, "1 reports, 0 faults\n", 'the JSON is what its schema says') || diag($valid->{err});
	my $text = read_file(scratch('counted.json'));
	for my $change (['"status": "simulated"', '"status": "exact"'], ['"runs": 3', '"runs": 0'],
		['"value": null', '"value": 0'], ['"run": 1', '"round": 1']) {
		my ($from, $to) = @$change;
		(my $wrong = $text) =~ s/\Q$from\E/$to/ or fail("no $from");
		is(status_text(run(command => [@validate, write_file(scratch('wrong.json'), $wrong)])->{status}),
			'exit 1', "$to is refused");
	}
}

# ---- input, status and mistakes ----

{
	my $file = scratch('out.txt');
	my $input = write_file(scratch('input'), "one\ntwo\n");
	my $run = run(stdin => $input,
		command => [cli(), 'compare', '--machines', 'cachegrind,zen3', '-e',
			'instructions,l2_misses', '-o', $file, which('sh'), '-c', 'cat; cat >&2; exit 5']);

	is($run->{out}, "one\ntwo\n", 'each run reads the input; one is seen');
	is($run->{status} >> 8, 5, 'the status is the program\'s');
	like(read_file($file) =~ s/\s+/ /gr, qr/2 runs: their smallest lines, cores out of order or string instructions differ/, 'and why there are two');
	my ($first, $second) = read_file($file) =~ /^instructions +([\d,]+) +([\d,]+)/m;
	s/,//g for $first, $second;
	cmp_ok(abs($first - $second), '<', 0.2 * $first, 'all of them did the same');
	like(read_file($file), qr/^l2_misses +\N{U+2014}|^l2_misses +\xe2\x80\x94/m,
		'a machine without an L2 has no count of it');
}
# A word of it, counted: 200,000 of them are most of what wc does.
{
	my $words = write_file(scratch('words'), "word\n" x 200_000);
	my @compare = (cli(), 'compare', '--machines', 'cachegrind,zen3', '-e', 'instructions,l2_misses');
	for my $from (['a file', @compare], ['a pipe', 'sh', '-c', 'cat | "$@"', 'sh', @compare]) {
		my ($what, @command) = @$from;
		my $file = scratch('counts.txt');
		my $run = run(stdin => $words, command => [@command, '-o', $file, which('wc'), '-w']);
		my ($first, $second) = (read_file($file) // '') =~ /^instructions +([\d,]+) +([\d,]+)/m;

		s/,//g for $first, $second;
		like($run->{out}, qr/200000/, "$what: the first run has it all");
		cmp_ok($first, '>', 1_000_000, "$what: which is work");
		cmp_ok($second, '>', 0.8 * $first, "$what: the second run has it again");
		is_deeply([glob(scratch('cache/cachepeek/*'))], [], 'and nothing is left behind');
	}
}
{
	my ($flag, $file) = (scratch('flag'), scratch('once.txt'));
	my $run = run(command => [cli(), 'compare', '--machines', 'cachegrind,ixp45x', '-e',
			'instructions,l2_misses', '-o', $file, which('sh'), '-c',
			'test -e "$0" && exit 4; : > "$0"; exit 3', $flag]);

	is($run->{status} >> 8, 3, 'the status is the first run\'s');
	like($run->{err}, qr/the run on ixp45x ended otherwise than the first/, 'another one is told');
	like(read_file($file), qr/^instructions /m, 'what was counted is there');
	unlike(read_file($file), qr/^l2_misses/m, 'what no machine counts has no row');
}
# Volumes in the unit that they need, and what is estimated looks so.
{
	my $file = scratch('volumes.txt');
	run(command => [cli(), 'compare', '-m', 'zen3,core2duo', '-o', $file, '/bin/true']);
	like(read_file($file), qr/^l2_volume \[kB\] +[\d.,]+ +[\d.,]+$/m, 'kilobytes of a small program');
	like(read_file($file), qr/^miss_cycles \[cycles\] +~[\d,]+ +~[\d,]+$/m, 'an estimate has its mark');
	is_deeply([grep { length > 80 } split(/\n/, read_file($file))], [], 'in 80 columns');
}
# One screen: where it costs least and most, and why; a row for each machine.
sub screen { return run(command => [cli(), 'compare', '-o', '-', @_])->{out} =~ s/~//gr }
sub wide { return grep { length(s/\xe2\x80[\x94\xa6]/x/gr) > 80 } split(/\n/, $_[0]) }
{
	my @both = ('-m', 'pentium4-m2,core2duo', program('columns'), 800, 5);
	my $seen = screen(@both);
	my $joined = $seen =~ s/\n {11}/ /gr;
	my ($least, $per) = $joined =~ /^least cost core2duo: ([\d.]+ [kMG]) cycles, ([\d.]+) per instruction, \d+ % of that for \w/m or diag($seen);
	like($joined, qr/^most cost  pentium4-m2: .* \([\d.]+ times that\)$/m, 'screen: where it costs most');
	like($seen, qr/^core2duo +\Q$least\E +\Q$per\E [ \d.]+$/m, 'screen: the row of the best says the same');
	like($seen, qr/^pentium4-m2 .* <==$/m, 'screen: the worst has the mark');
	unlike($seen, qr/^l1d_request_rate|^core2duo: L1I/m, 'screen: not everything');
	like(screen('-v', @both), qr/^core2duo: L1I.*^l1d_request_rate /ms, '-v: everything');
	my $txt = scratch('whole.txt');
	run(command => [cli(), 'compare', '-o', $txt, @both]);
	like(read_file($txt), qr/^core2duo: L1I.*^l1d_request_rate /ms, 'so has a file');

	my $all = 'skylake-sp,zen4,neoverse-n1,core2duo,ixp45x,opteron-244,sapphire-rapids,apple-m2';
	my $many = screen('-m', $all, '-g', 'cache,tlb', '-e', 'l1d_misses', '/bin/true');
	is_deeply([wide($many)], [], 'screen: eight machines in 80 columns');
	like($many, qr/^least +[\w-]+: dtlb_walk_mpki [\d.]+ \/kI$/m, 'screen: a group that has no cost');
	like($many, qr/^ixp45x .*\xe2\x80\x94/m, 'screen: what one of them has not');
	like($many, qr/^l1d_misses +[\d,]+ .*\n\n +\S+.*\nl1d_misses +[\d,]/m, 'screen: events, machines below machines');
	is_deeply([wide(screen('-v', '-m', $all, '/bin/true'))], [], '-v: eight machines in 80 columns');
	my $fine = screen('-m', 'zen4,core2duo', '-e', 'instructions', program('stride'));
	unlike($fine, qr/least|most|not available/, 'screen: events by themselves are the answer');
	my $calm = write_file(scratch('calm.c'), "int main(void) { for (volatile long i = 0; i < 3000000; i++) ; return 0; }\n");
	is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-o', scratch('calm'), $calm])->{status}, 0, 'compiled');
	like(screen('-m', 'zen4,core2duo', scratch('calm')), qr/^ +nothing to mend on any of them$/m, 'screen: nothing to mend');
	unlike($seen, qr/nothing to mend/, 'screen: where there is something, it does not say so');
}
# A file that cannot be written is told before the program runs.
{
	my $flag = scratch('ran');
	my $run = run(command => [cli(), 'compare', '-m', 'zen3', '-o', '/dev/null/x.csv', which('touch'), $flag]);
	is($run->{err}, "cachepeek: output /dev/null/x.csv: not a directory: choose a file that can be written\n", 'no such output: one line');
	is($run->{status} >> 8, 2, 'fails');
	ok(!-e $flag, 'and the program has not run');
}
# CSV: what the JSON has, a row for each machine and value.
{
	my ($csv, $json) = (scratch('table.csv'), scratch('table.json'));
	run(command => [cli(), 'compare', '-m', 'zen3,ixp45x', '-g', 'cache,l2', '-o', $_, '/bin/true']) for $csv, $json;
	my ($head, @rows) = split(/\n/, read_file($csv));
	is($head, 'machine,run,kind,name,value,unit,status,reason,error', 'CSV: its columns');
	my $report = Json::decode_json(read_file($json));
	my (%want, %got);
	for my $machine (@{$report->{machines}}) {
		for my $kind (qw(count metric)) {
			for my $name (keys %{$machine->{"${kind}s"}}) {
				my $value = $machine->{"${kind}s"}{$name};
				$want{"$machine->{name} $machine->{run} $kind $name"} = join(' ', $value->{unit} // '', $value->{status},
					defined $value->{value} ? 1 : 0, $value->{reason} // '');
			}
		}
	}
	for my $row (@rows) {
		my ($machine, $nth, $kind, $name, $value, $unit, $status, $reason) = split(/,/, $row, 8);
		$reason =~ s/,$//; # no error: nothing is sampled
		$reason =~ s/^"(.*)"$/$1/;
		$got{"$machine $nth $kind $name"} = join(' ', $unit, $status, length $value ? 1 : 0, $reason);
	}
	is_deeply(\%got, \%want, 'CSV: the values and provenance of the JSON');
	is(scalar(@rows), scalar(keys %want), 'each once');
	my ($instructions) = map { /^zen3,1,count,instructions,(\d+),,simulated,,$/ ? $1 : () } @rows;
	cmp_ok($instructions // 0, '>', 50_000, 'a count is a number') or diag("@rows[0 .. 2]");
	ok((grep { /^ixp45x,2,count,l2_misses,,,unavailable,./ } @rows), 'what a machine has not is empty, with its reason');
}
for my $case ([['--machines', 'zen33', '/bin/true'], qr/did you mean zen3/],
	[['/bin/true'], qr/no machines/], [['--machines', 'zen3'], qr/no program/],
	[['--machines', 'zen3', '/nonesuch'], qr/cannot be run/]) {
	my ($arguments, $why) = @$case;
	my $run = run(command => [cli(), 'compare', @$arguments]);

	like($run->{err}, $why, "compare @$arguments");
	isnt($run->{status}, 0, 'fails');
}

done_testing;
