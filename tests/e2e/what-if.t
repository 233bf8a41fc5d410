#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Another machine than the one asked for, and one level of it in many sizes at once:
# each point of a sweep is what a machine with that level counts, to the last miss.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $machine = write_file(scratch('plain.machine'), <<'END');
l1i = 32K 8 64
l1d = 32K 8 64
l2 = 128K 8 64
llc = 1M 16 64
itlb = 64 4
dtlb = 64 4
stlb = 512 4
page = 4K
cores = 4
END

# The counts of a machine with these changes.  The environment is of one length, else the
# stack is elsewhere and so are its lines.
sub counted
{
	my ($what, %more) = @_;

	return peek(command => [program('walk')], engine => 'sim', groups => 'l1,l2',
		machine => $machine, env => {CACHEPEEK_WHAT_IF => $what . ',' x (40 - length $what),
		CACHEPEEK_SWEEP => $more{sweep} // 'L1D.ways=1..16'});
}

# ---- a changed machine ----

my %shape = (
	'L2.size=256K' => 'L2 256 KiB 8-way',
	'l2.ways=16' => 'L2 256 KiB 16-way',
	'L2.ways=16,L2.size=128K' => 'L2 128 KiB 16-way',
	'L2.size=64K,L2.ways=4' => 'L2 64 KiB 4-way',
	'L3.policy=plru' => 'L3 1 MiB 16-way plru',
	'L2.policy=qlru_h00_m1_r2_u1' => 'L2 128 KiB 8-way qlru_h00_m1_r2_u1',
	'L2.policy=mru-n' => 'L2 128 KiB 8-way mru-n',
	'L1D.policy=lru-plru4' => 'L1D 32 KiB 8-way lru-plru4',
	'DTLB.entries=32' => 'DTLB 32',
	'STLB.sets=64' => 'STLB 256',
	'L1D.write=write-through' => 'L1D 32 KiB 8-way write-through',
	'L1D.prefetch=next-line' => 'L1D 32 KiB 8-way next-line',
	'L2.prefetch=adjacent-line+streamer:20:2:32' => 'L2 128 KiB 8-way adjacent-line streamer',
	'L1D.prefetch=next-line,prefetch=none' => 'L1D 32 KiB 8-way',
	'l2=none,page=16K' => 'L1D 32 KiB 8-way, L3 1 MiB 16-way',
	'llc=2M 16 64 exclusive' => 'L3 2 MiB 16-way exclusive',
	'L1D.half-lines=yes' => 'L1D 32 KiB 8-way half-lines',
);
for my $what (sort keys %shape) {
	my $run = peek(command => [program('empty')], engine => 'sim', machine => $machine,
		env => {CACHEPEEK_WHAT_IF => $what});
	my $text = $run->{report}{machine}{description} // '';
	is(notes($run), 0, "$what: taken") or diag(@{$run->{notes}});
	like($text, qr/\Q$shape{$what}\E(,|$)/, "$what: $shape{$what}");
	like($text, qr/ with \Q$what\E: L1I/, "$what: and it says so");
}

# ---- what cannot be ----

my %wrong = (
	'L2.size=300000' => qr/L2\.size=300000: the size is no multiple of WAYS times LINE/,
	'L2.ways=200' => qr/L2\.ways=200: the ways must be 1 to 128/,
	'L2.wyas=8' => qr/L2\.wyas=8: no such field: .*ways/,
	'L9.size=8K' => qr/L9\.size=8K: no such level: .*L1D/,
	'L2.size' => qr/L2\.size: expected LEVEL\.FIELD=VALUE/,
	'L2.policy=best' => qr/L2\.policy=best: expected one of: lru, plru, round-robin, random/,
	'L2.policy=lru-plru4' => qr/L2\.policy=lru-plru4: expected one of: lru, .*, qlru_hXY_mM_rR_uU/,
	'L2.policy=qlru_h00_m1_r2_u2' => qr/L2\.policy=\S+: qlru_hXY_mM_rR_uU, X and R to 2, .*: qlru_h00_m1_r2_u2/,
	'L3.policy=qlru_h02_m1_r0_u0' => qr/L3\.policy=\S+: qlru_hXY_mM_rR_uU, X and R to 2, .*: qlru_h02_m1_r0_u0/,
	'L1D.policy=qlru_h00_m1_r0_u0' => qr/L1D\.policy=\S+: not for this level: qlru_h00_m1_r0_u0/,
	'L1D.ways=6,L1D.policy=lru-plru4' => qr/L1D\.policy=lru-plru4: lru-plru4 has trees of four/,
	'L1D.inclusion=inclusive' => qr/L1D\.inclusion=inclusive: not for this level/,
	'L1D.ways=6,L1D.policy=plru' => qr/L1D\.policy=plru: plru is a tree/,
	'L2.line=32' => qr/L2\.line=32: its line is smaller than one in front of it/,
	'page=3' => qr/page=3: page must be a power of two/,
	'dtlb2.ways=4' => qr/dtlb2\.ways=4: the machine has no such level/,
);
for my $what (sort keys %wrong) {
	my $run = peek(command => [program('empty')], engine => 'sim', machine => $machine,
		env => {CACHEPEEK_WHAT_IF => $what});
	is(notes($run), 1, "$what: one line");
	like("@{$run->{notes}}", qr/CACHEPEEK_WHAT_IF: $wrong{$what}/, "$what: what is wrong");
	unlike($run->{report}{machine}{description}, qr/ with /, "$what: the machine is as it was");
}

# ---- a sweep ----

# The point of a machine's own level is what that level counts, in the same run, and as good
# as what the machine that is not changed has there: but for some lines, since another
# process has read another environment, and what it left in L2 is not the same.  To the
# last miss that is for tests/sim/sweep.t.
sub same_point
{
	my ($change, $level, $i, $request, $expected) = @_;
	my $run = counted($change, sweep => $request);
	my %curve = map { join('/', @{$_->{path}}) => $_->{misses}[$i] } @{$run->{report}{sweep}{curves}};
	my %other = map { join('/', @{$_->{path}}) => $_->{misses}[$i] } @{$expected->{curves}};

	for my $path ('', 'walk', 'long') {
		my $counted = region($run->{report}, split(m{/}, $path))->{counts}{"${level}_misses"}{value};
		ok($counted && $counted == $curve{$path},
			"$change, region '$path': the point is what is counted") or
			diag("$counted counted, $curve{$path} swept");
		cmp_ok(abs($counted - $other{$path}), '<=', 8, "$change, region '$path': as it was swept");
	}
}

my $swept = counted('');
my $sweep = $swept->{report}{sweep};
is(join(' ', map { $_->{value} } @{$sweep->{points}}), join(' ', 1 .. 16), 'the points');
is_deeply($sweep->{points}[3], {value => 4, label => '4', sets => 64, ways => 4, bytes => 16384,
	count => 'l1d_misses[ways=4]'}, 'one of them');
is("@$sweep{qw(level title field own line)}", 'l1d L1D ways 8 64', 'of what');
my %curve = map { join('/', @{$_->{path}}) => $_ } @{$sweep->{curves}};
is($curve{walk}{status}, 'simulated', 'its status');
ok_sums($swept->{report}, 'the points, too');
is($curve{$_}{misses}[3], region($swept->{report}, split(m{/}))->{counts}{'l1d_misses[ways=4]'}{value},
	"region '$_': a point is a count") for '', 'walk', 'long';

same_point("L1D.ways=$_", 'l1d', $_ - 1, 'L1D.ways=1..16', $sweep) for 1 .. 16;

# LRU keeps all of what fits, and nothing of what goes round and is a line too large.
my $lines = 24 * 1024 / 64;
cmp_ok($curve{walk}{misses}[4], '>=', 10 * $lines, 'five ways: every line each time');
cmp_ok($curve{walk}{misses}[6], '<', $lines + 60, 'seven ways: each line once, and little else');
cmp_ok($curve{long}{misses}[15], '>=', 40 * $lines, 'sixteen ways are not enough for more');

my $sizes = counted('', sweep => 'L2.size=16K..1M')->{report}{sweep};
my @sizes = map { $_->{label} } @{$sizes->{points}};
is("@sizes", '16K 32K 64K 128K 256K 512K 1M', 'by size');
same_point("L2.size=$sizes[$_]", 'l2', $_, 'L2.size=16K..1M', $sizes) for 0 .. 6;
my @pages = (command => [program('walk')], engine => 'sim', machine => $machine, groups => 'dtlb');
my $pages = peek(@pages, env => {CACHEPEEK_SWEEP => 'DTLB.entries=4..64', CACHEPEEK_WHAT_IF => 'dtlb-2m=none'});
is($pages->{report}{sweep}{curves}[0]{misses}[4],
	region($pages->{report})->{counts}{dtlb_misses}{value}, 'pages: the own point is what is counted');
like(peek(@pages, env => {CACHEPEEK_SWEEP => 'DTLB.entries=4..64'})->{report}{sweep}{curves}[0]{reason},
	qr/dtlb may hold huge pages, too \(dtlb-2m=none\)/, 'pages: where they are of one size only');
is($pages->{report}{sweep}{points}[4]{value}, 64, 'a TLB by its entries');
is($pages->{report}{sweep}{line}, undef, 'has no line');

my $text = peek(command => [program('walk')], engine => 'sim', machine => $machine, output => '-',
	env => {CACHEPEEK_SWEEP => 'L1D.ways=1..16'});
like($text->{out}, qr/^Miss curve: lines \(pages\) that L1D would miss, by ways$/m, 'text: its title');
like($text->{out}, qr/^ *8 +32 KiB +[\d,]+ +[\d,]+ +[\d,]+ +<- as simulated$/m, 'text: a row, and the own one');
like($text->{out} =~ s/\n {11}/ /gr, qr/^L1D sweep +ways of 8 as simulated: [\d.]+ ?k? misses; \d+ is enough \([\d.]+ ?k? misses\): 16 has [\d.]+ ?k?$/m, 'text: the answer')
	or diag($text->{out});
my $set = peek(command => [program('walk')], engine => 'sim', machine => $machine, output => '-', env => {CACHEPEEK_WORKING_SET => '10000'})->{out};
like($set =~ s/\n {11}/ /gr, qr/^touched +long: [\d.]+ KiB of data in [\d.]+ pages by 10\.0 k instructions/m, 'text: the largest working set') or diag($set);
unlike($text->{out}, qr/^not available: other levels/m, 'text: what it cannot say is behind -v');
unlike($text->{out}, qr/^Events$/m, 'text: the points are no other events');

# ---- what a sweep cannot give ----

my $plru = counted('L1D.policy=plru')->{report}{sweep};
is($plru->{curves}[0]{status}, 'unavailable', 'PLRU has no curve');
is($plru->{curves}[0]{misses}[0], undef, 'nor a number');
like($plru->{curves}[0]{reason}, qr/l1d is not LRU \(POLICY=lru\)/, 'and why');
like(counted('L1D.policy=plru', sweep => 'L2.size=16K..1M')->{report}{sweep}{curves}[0]{reason},
	qr/l1d is not LRU/, 'what is in front of L2 counts, too');
like(counted('L2.inclusion=inclusive')->{report}{sweep}{curves}[0]{reason},
	qr/l2 is inclusive and takes lines away from L1/, 'inclusion is in the way of L1');

for my $bad (['L1D.ways=0..4', qr/expected a range/], ['L1D.ways=4..2', qr/expected a range/],
	['L1D.ways=1..64', qr/more than 32 points/], ['L1D.sets=1..4', qr/ways or size can be swept/],
	['L2.size=1000..1M', qr/no multiple of WAYS times LINE/], ['L5.ways=1..2', qr/no such level/],
	['ways', qr/expected LEVEL\.ways=FIRST\.\.LAST/]) {
	my $run = peek(command => [program('empty')], engine => 'sim', machine => $machine,
		env => {CACHEPEEK_SWEEP => $bad->[0]});
	like("@{$run->{notes}}", qr/^cachepeek: CACHEPEEK_SWEEP: \Q$bad->[0]\E: .*$bad->[1].*\(nothing is swept\)$/,
		"$bad->[0]: what is wrong");
	ok(!$run->{report}{sweep}, "$bad->[0]: no curve");
}

my $perf = peek(command => [program('empty')], engine => 'perf',
	env => {CACHEPEEK_SWEEP => 'L1D.ways=1..2', CACHEPEEK_WHAT_IF => 'L2.ways=8'});
like("@{$perf->{notes}}", qr/CACHEPEEK_SWEEP is ignored.*sim/, 'not by the hardware: the sweep');
like("@{$perf->{notes}}", qr/CACHEPEEK_WHAT_IF is ignored.*sim/, 'nor the change');

# ---- the command ----

my $json = scratch('command.json');
my $command = run(command => [cli(), 'run', '-m', $machine, '--what-if', 'L2.ways=16',
	'--what-if', 'L2.size=64K', '--sweep', 'L1D.ways=1..4', '-o', $json, program('empty')]);
my $report = Json::decode_json(read_file($json));
is($report->{engine}{name}, 'sim', 'the command: by itself on the simulated PMU');
like($report->{machine}{description}, qr/ with L2\.ways=16,L2\.size=64K: .*L2 64 KiB 16-way/,
	'the command: changes add up');
is(scalar @{$report->{sweep}{points}}, 4, 'the command: a sweep');

done_testing;
