#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The row to look at first (<==): the region whose own misses cost most, also where the
# last level keeps everything.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $source = write_file(scratch('two.c'), <<'C');
#include <cachepeek.h>
#define N 512
double matrix[N][N];
int main(void)
{
	double sum = 0;

	CACHEPEEK_BEGIN("outer");
	CACHEPEEK_BEGIN("rows");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += matrix[i][j];
	CACHEPEEK_END("rows");
	CACHEPEEK_BEGIN("columns");
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			sum += matrix[i][j];
	CACHEPEEK_END("columns");
	CACHEPEEK_END("outer");
	return sum != 0;
}
C
my $program = scratch('two');
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-I' . source() . '/regions', '-o', $program, $source])->{status},
	0, 'compiled');
my $machine = write_file(scratch('large.machine'), "l1i = 32K 8 64\nl1d = 32K 8 64\nl2 = 256K 8 64\nllc = 32M 16 64\n");

# The region with the mark, the sentence, and the JSON report.
sub marked
{
	my ($on, $let, $group, @command) = @_;
	my $file = scratch('mark.txt');
	my $run = peek(engine => 'sim', machine => $on, groups => $group // 'cache', env => {CACHEPEEK_LET => $let},
		output => $file . ',' . scratch('mark.json'), command => [@command ? @command : $program]);
	my $text = read_file($file);
	my ($row) = $text =~ /^ *(\S+(?: run)?) .* <==$/m;
	my ($why) = $text =~ /^<== (.*?)\n(?! )/ms;
	return ($row, ($why // '') =~ s/\s+/ /gr, Json::decode_json(read_file(scratch('mark.json'))));
}

sub cost
{
	my ($region, $kind, @cycles) = @_;
	my %count = map { $_ => $region->{counts}{$_}{$kind} } keys %{$region->{counts}};
	return $cycles[0] * ($count{refs_from_l2} + $count{l1i_misses} - $count{ifetches_beyond_l2})
		+ $cycles[1] * ($count{refs_from_l3} + $count{ifetches_beyond_l2} - $count{ifetches_from_memory})
		+ $cycles[2] * ($count{refs_from_memory} + $count{ifetches_from_memory}) + 30 * ($count{dtlb_walks} + $count{itlb_walks}) + 60 * $count{hitm} + 100 * $count{contended_transfers};
}

for my $case ([undef, 'columns', 14, 45, 250], ['MEMORY_CYCLES=100000', 'rows', 14, 45, 100000]) {
	my ($let, $expected, @cycles) = @$case;
	my ($row, $why, $report) = marked($machine, $let);
	my ($region) = grep { ($_->{path}[1] // '') eq $expected } @{$report->{regions}};
	my $own = cost($region, 'exclusive', @cycles);
	my $share = sprintf('%.0f', 100 * $own / cost($report->{regions}[0], 'value', @cycles));

	is($row, $expected, "memory in $cycles[2] cycles: $expected has the mark, and not what is around it");
	(my $number = $why) =~ s/,(?=\d)//g;
	like($number, qr/^$expected: the most miss_cost of its own, ~$own, $share % of the run's$/, 'and why');
	is($region->{metrics}{miss_cost}{value}, cost($region, 'value', @cycles), 'the metric');
	is($region->{metrics}{miss_cost}{status}, 'estimated', 'is estimated');
}
my ($row, $why, $report) = marked('ixp45x', undef);
is($row, 'columns', 'on a machine without L2 the mark goes by the cost, too');
like($why, qr/^columns: the most miss_cost of its own, /, 'and says so');

# The misses of the start-up, in no region, cost more than a region of one line.  libc's memset
# may store past the caches.
my $few = scratch('few');
write_file("$few.c", "#include <cachepeek.h>\nstatic volatile char a[1 << 20];\n" .
	"static void store(int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\ta[i] = 1;\n}\nint main(int n, char **v)\n{\n\t(void)n;\n" .
	"\tCACHEPEEK_BEGIN(\"small\");\n\ta[0]++;\n\tCACHEPEEK_END(\"small\");\n\tstore(sizeof(a));\n" .
	"\tCACHEPEEK_BEGIN(\"half\");\n\tif (v[1])\n\t\tstore(sizeof(a) * 2 / 5);\n\tCACHEPEEK_END(\"half\");\n\treturn 0;\n}\n");
is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O0', '-I' . source() . '/regions', '-o', $few, "$few.c"])->{status}, 0, 'few: compiled');
for my $command ([$few], [$few, 'some']) {
	($row, $why, $report) = marked($machine, undef, undef, @$command);
	is($row, 'whole run', "@$command[1 .. $#$command]: the whole run has the mark where most is in no region");
	like($why, qr/^outside of the regions: the most miss_cost of its own, /, 'and the sentence says so');
	is_deeply($report->{answers}[0]{look_first}, [], 'and JSON');
	my ($first) = map { $_->{text} } grep { $_->{title} eq 'look first' } @{$report->{answers}[0]{lines}};
	like($first, qr/^outside of the regions: ~\d+ % of the miss cost/, 'as the answer does');
}

my $group = write_file(scratch('next.group'), <<'G');
@group next
@need instructions l1d_misses
@want cycles
cpi [cycle/instr] = cycles / instructions
l1d_mpki [1/kinstr] = 1000 * l1d_misses / instructions
@columns instructions "instr" | cpi "CPI" | l1d_mpki "L1D miss"
@mark cpi l1d_mpki
G
($row, $why) = marked($machine, undef, $group);
is($row, 'columns', 'where the first of the marks has no value it goes by the next');
like($why, qr/^columns: the highest l1d_mpki, [\d.]+ \/kI, of the regions with 1 % of the instructions or more$/, 'and says so');
done_testing();
