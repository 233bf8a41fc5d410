#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Typical mistakes: the command ends with 2 before the program is started, and one line
# has the nearest name, the valid range, or what is in the way.  The library, preloaded
# alone, runs the program (tests/e2e/errors.t).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mistakes;
use Peek;
use Test::More;

my $marker = scratch('ran');
my $file = write_file(scratch('file'), "of no matter\n");
my $directory = scratch('directory.json');
mkdir($directory);
my @mistakes = mistakes($file, $directory);
cmp_ok(scalar(@mistakes), '>=', 30, 'thirty mistakes, or more');
for my $case (@mistakes) {
	my ($options, $has) = @$case;
	my $run = run(command => [cli(), split(/ /, $options), 'touch', $marker]);
	$options = substr($options, 0, 60);
	is(status_text($run->{status}) . $run->{out}, 'exit 2', "cachepeek $options: exit 2");
	like($run->{err}, qr/\Acachepeek: [^\n]*\Q$has\E[^\n]*\n\z/, "cachepeek $options: one line says why");
	ok(!-e $marker, "cachepeek $options: the program is not started") || unlink($marker);
}
is_deeply([glob("$file* $directory/*")], [$file], 'and nothing is made');

# ---- a file of source that the program has not ----

# Its sources are found by its debugging information: the files are elsewhere.
my $program = scratch('program');
{
	my @cc = ('cc', '-g', '-O1', '-L' . scratch(), '-Wl,-rpath,' . scratch());
	for my $name (qw(part other)) {
		my $part = write_file(scratch("$name.c"), "int $name(void) { return 0; }\n");
		system(@cc, qw(-shared -fPIC -o), scratch("lib$name.so"), $part) == 0 or die 'cc';
		unlink($part);
	}
	my $main = write_file(scratch('main.c'), "#include <stdio.h>\nint part(void), other(void);\n"
		. "int main(int n, char **v) { return part() | other() | (n > 1 && !fopen(v[1], \"w\")); }\n");
	# One is named by its path in the program, the other is looked for.
	system(@cc, '-o', $program, $main, scratch('libpart.so'), '-lother') == 0 or die 'cc';
	system('objcopy', '--strip-debug', $program, "$program-stripped") == 0 or die 'objcopy';
	unlink($main);
}
for my $case (['nosuchthing.c', '`cachepeek annotate -d DIRECTORY nosuchthing.c`'],
	['mallox.c', '`cachepeek annotate -d DIRECTORY mallox.c`'], ['mian.c', 'did you mean main.c?'], ['prt.c', 'did you mean part.c?'], ['/main.c', 'did you mean main.c?']) {
	my ($source, $has) = @$case;
	my $run = run(command => [cli(), 'annotate', $source, $program, $marker]);
	is(status_text($run->{status}) . $run->{out}, 'exit 2', "annotate $source: exit 2");
	like($run->{err}, qr/\Acachepeek: \Q$source\E is none of the sources of [^\n]*\Q$has\E\n\z/, "annotate $source: one line says why");
	ok(!-e $marker, "annotate $source: the program is not started") || unlink($marker);
}
for my $case (['main.c', $program], ['part.c', $program], ['other.c', $program], [$file, $program], ['nosuchthing.c', "$program-stripped"]) {
	my ($source, $of) = @$case;
	my $run = run(command => [cli(), 'annotate', $source, $of, $marker]);
	unlike($run->{err}, qr/none of the sources/, "annotate $source: may be");
	ok(unlink($marker), "annotate $source: and the program is started");
}

# ---- each command, and each kind of file that it has no use for ----

{
	my $room = scratch('kinds');
	mkdir($_) for $room, "$room/directory";
	my $report = run(command => [cli(), qw(-E sim -m cachegrind -e l1d_misses -o report.json -o report.csv -d records true)], cwd => $room);
	run(command => [cli(), qw(dcache -m cachegrind -o profile.json true)], cwd => $room);
	run(command => [cli(), qw(gate --update baseline.json report.json)], cwd => $room);
	my $json = read_file("$room/report.json");
	my ($record) = glob("$room/records/*.rec");
	my $bytes = read_file($record);
	mkdir("$room/truncated");
	write_file("$room/truncated/" . $record =~ s{.*/}{}r, substr($bytes, 0, 200));
	write_file("$room/cut.json", substr($json, 0, length($json) / 2));
	write_file("$room/cut-profile.json", substr(read_file("$room/profile.json"), 0, 2000));
	write_file("$room/foreign.json", "{\"schema\": \"other/1\"}\n");
	write_file("$room/number.json", "7\n");
	write_file("$room/of-no-matter", "of no matter\n");
	write_file("$room/empty", '');
	write_file("$room/elf", "\x7fELF\1\2\3");
	my @files = qw(nosuch nosuch.json of-no-matter empty elf cut.json cut-profile.json foreign.json number.json directory truncated /dev/null report.csv);
	# Commands that take FILE; each other file that it has is right.
	my @commands = ('report FILE', 'report -o out.json FILE', 'merge FILE', 'diff FILE report.json', 'diff report.json FILE', 'diff FILE profile.json',
		'gate FILE report.json', 'gate baseline.json FILE', 'explain FILE', 'explain --json FILE', (map { "$_ -d FILE" } qw(dcache dtlb icache sharing explain)[0 .. 3]),
		'annotate -d FILE x.c', 'annotate -i FILE x.c', (map { "$_ -i FILE" } qw(dcache dtlb icache)), 'list groups FILE', 'list machines FILE', 'list presets FILE', 'list events FILE',
		(map { ("$_ -m ./FILE true", "$_ -m FILE true") } qw(run compare dcache dtlb icache sharing)), 'run -g ./FILE true', 'run -g FILE true', 'compare -m zen4 -g ./FILE true',
		'help FILE', 'doctor FILE', 'annotate FILE');
	my @more = (['report', 'report.json'], ['merge', 'profile.json'], ['diff', 'report.json', 'profile.json'], ['annotate', '-i', 'report.json', 'x.c'],
		['explain', 'report.json'], ['gate', 'report.json', 'report.json'], ['explain', 'baseline.json'], ['dcache', '-d', 'records']);
	for my $case ((map { my $file = $_; map { [map { s/FILE/$file/r =~ s{\./(?=/)}{}r } split(/ /)] } @commands } @files), @more) {
		my $run = run(command => [cli(), @$case], cwd => $room, env => {XDG_CACHE_HOME => "$room/cache"});
		like(status_text($run->{status}), qr/^exit [12]$/, "cachepeek @$case: status 1 or 2") or diag($run->{out});
		like($run->{err}, qr/\Acachepeek: [^\n]*(?:`[^`]+`|did you mean|: (?:name|make|check|write|expected|see|add|build|run|compare)\b|--update|those are|\bmake one|takes (?:no|only)|a path holds|is none of)[^\n]*\n\z/,
			"cachepeek @$case: one line, with cause and cure");
	}
	is_deeply([grep { -e "$room/$_" } qw(out.json)], [], 'and nothing is made');
}

# ---- what is no mistake ----

my %disabled = (CACHEPEEK_DISABLE => 1);
for my $options ('-e r01d1', '-e r1d1:u,mem:0x1000:x', '-e perf::PAGE-FAULTS:k', '-e dram_reads', '-e l1d_load_lines',
	'-E sim -m neoverse-n2 -e L2D_CACHE_WR', '-e perf::CACHE-MISSES', '-e sysfs:uncore_imc_*/event=0x4,umask=0x3/', '-g cache,tlb', '-g L2CACHE,mem', '-e PAPI_L2_TCM', '-m neoverse-n2 -e PAPI_TOT_CYC',
	'-o ' . scratch('made') . '/there/report.json', '-o ' . scratch('made') . '/%h-%p.html', '-d ' . scratch('made') . '/records', "-o $file.txt",
	'-o /dev/null', '--what-if L2.size=1M,L2.ways=8 -m zen4', '-m cachegrind --sweep L1D.ways=1..16') {
	my $run = run(command => [cli(), split(/ /, $options), 'touch', $marker], env => \%disabled);
	is(status_text($run->{status}) . $run->{err}, 'exit 0', "cachepeek $options: is taken");
	ok(unlink($marker), "cachepeek $options: and the program runs");
}
ok(!-e scratch('made'), 'nothing is made before there is a report');
SKIP: {
	skip(no_other_user(), 1) if no_other_user();
	my @user = as_user();
	for my $options ('-o /report.json', '-d /records', 'dcache -o /report.txt') {
		my $run = run(command => [@user, cli(), split(/ /, $options), 'true']);
		is(status_text($run->{status}), 'exit 2', "an ordinary user, $options: exit 2");
		like($run->{err}, qr/\A[^\n]*permission denied[^\n]*\n\z/, "an ordinary user, $options: why");
	}
}

# Settings in the environment are the library's: it complains, and the program runs.
my $run = run(command => [cli(), 'touch', $marker], env => {CACHEPEEK_GROUPS => 'cahce', CACHEPEEK_ENGINE => 'sim',
	CACHEPEEK_OUTPUT => scratch('report.json')});
is(status_text($run->{status}), 'exit 0', 'a variable: the program runs');
ok(unlink($marker), 'and does what it does');
like($run->{err}, qr/did you mean "cache"/, 'and the library says what is wrong');
done_testing();
