# SPDX-License-Identifier: MIT
# Typical mistakes of a command line, for mistakes.t, which says what they do, and for
# tests/bench/mistakes.pl, which says how long they take.
package Mistakes;
use strict;
use warnings;
use Exporter qw(import);
use Peek;

our @EXPORT = qw(mistakes);

# Each is [options, what the one line has].  FILE and DIRECTORY are what is in the way.
sub mistakes
{
	my ($file, $directory) = @_;
	my $group = write_file(scratch('wrong.group'), "metric = nonsense(\n");
	my $machine = write_file(scratch('wrong.machine'), "L1D = 48K 12\n");
	my $many = join(',', map { sprintf('r%04x', $_) } 1 .. 300);
	return (
		['-g cahce', 'there is no group "cahce": did you mean "cache"?'],
		['-g tiem', 'there is no group "tiem": did you mean "time"?'],
		['-g cache,nonesuch', 'there is no group "nonesuch": see cachepeek list groups'],
		["-g $group", $group],
		['-g /nonexistent/my.group', '/nonexistent/my.group'],
		['-g ,', '-g names no group'],
		['-e l1d_mises', 'there is no event "l1d_mises": did you mean "l1d_misses"?'],
		['-e instructions,qqqqqqqqqqqq', 'there is no event "qqqqqqqqqqqq": `cachepeek list presets`'],
		['-e PAPI_L1_DCMM', 'did you mean "PAPI_L1_DCM"?'],
		['-e cache-mises', 'did you mean "cache-misses"?'],
		['-e perf::PAGE-FAULTZ', 'did you mean "perf::PAGE-FAULTS"?'],
		['-e mem:main:x', 'there is no event "mem:main:x"'],
		['-e rxyz', 'there is no event "rxyz"'],
		["-e $many", '-e has 300 events'],
		['-E prf', 'there is no engine "prf": expected auto, perf or sim'],
		['-E shadow', 'there is no engine "shadow": expected auto, perf or sim (it is gone: --sample, '],
		['-m zen44', 'unknown machine zen44: did you mean zen4?'],
		['-m pentium-profi', 'did you mean pentium-pro?'],
		['-m qqqqqqqqqqqqqqq', '`cachepeek list machines` has them'],
		["-m $machine", $machine],
		['-m zen4 --what-if L2.sise=4M', 'sise'],
		['-m zen4 --what-if L9.size=4M', 'L9'],
		['-m zen4 --what-if L2.size', 'expected LEVEL.FIELD=VALUE'],
		['-m ice-lake-sp --sweep L1D.size=8K..256K', '--sweep: L1D.size=8K..256K'],
		['-m zen4 --sweep L1D.ways=16..1', 'expected a range of numbers above 0'],
		['-m zen4 --sweep L1D.ways=1..16', '(--what-if prefetch=none)'],
		['-m zen4 --what-if prefetch=none --sweep L1D.ways=1..16', 'inclusive'],
		['-m zen4 --sweep L9.ways=1..16', 'there are L1I L1D L2'],
		['--working-set many', 'from 1 to 1000000000'],
		['--working-set 0', 'from 1 to 1000000000'],
		['--repeat 0', 'a number from 1 to'],
		['--repeat 2 -o report.pdf', 'file that ends in .txt, .json, .csv or .html'],
		["--repeat 2 -o $file/report.json", 'not a directory'],
		['-o report.pdf', '.txt, .trace.json, .json, .csv, .html or .prom'],
		["-o $directory", 'is a directory'],
		["-o $file/report.json", 'not a directory'],
		["-o stderr,$file/%h/report.json", 'not a directory'],
		["-d $file", 'not a directory'],
		['-I 5', '-I 5: expected a time from 10ms to 1h, such as 100ms or 2s'],
		['-p 1', 'there is no option "-p": a program is counted from its start'],
		['--pid=1', 'there is no option "--pid=1": a program is counted from its start'],
		['list machines zen44', 'did you mean "zen4"?'],
		['list machines --json zen44', 'did you mean "zen4"?'],
		['list events nosuch', 'no event of this processor has "nosuch" in its name'],
		['list events --json nosuch', 'no event of this processor has "nosuch" in its name'],
		["-d $file/records", 'not a directory'],
		['dcache -E shadow', '--engine shadow: expected sim or perf (it is gone: --sample, '],
		['dcache -m zen44', 'did you mean zen4?'],
		['dcache --sort miss', 'expected misses, latency or avg'],
		['dcache --cutoff 1', 'PERCENT,CUMULATIVE,ROWS'],
		['dtlb -o report.pdf', '.callgrind'],
		["icache -o $file/report.txt", 'not a directory'],
		["dtlb -d $file", 'not a directory'],
		['sharing --quantum 0', 'from 1 to 1000000000'],
		["sharing -o $file/report.json", 'not a directory'],
		['annotate -p cache a.c', 'expected dcache, dtlb or icache'],
		["annotate -o $file/a.html a.c", 'not a directory'],
		['report -o report.pdf', '.txt, .trace.json, .json, .csv, .html or .prom'],
		['report --json -o report.pdf', '.txt, .trace.json, .json, .csv, .html or .prom'],
		["report -o $file/report.json", 'not a directory'],
		["merge -o $directory", 'is a directory'],
		['merge -o report.pdf', '.txt, .trace.json, .json, .csv, .html or .prom'],
		['list presets --json --check', 'either --json or --check'],
		['--color sometimes', '--color sometimes: expected auto, always or never'],
		['list events -p skx', 'list events takes no --pmu'],
		['compare -m zen4,zen44', 'did you mean zen4?'],
		['compare -m zen4 -g cahce', 'did you mean "cache"?'],
		['compare -m zen4 -e l1d_mises', 'did you mean "l1d_misses"?'],
		["compare -m zen4 -o $file/report.txt", 'not a directory'],
	);
}

1;
