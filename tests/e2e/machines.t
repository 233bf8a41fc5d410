#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Machines: those that come with the library, those that users write, and their
# mistakes.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json ();
use Peek;
use Test::More;

sub simulate
{
	my ($machine, $events, @command) = @_;
	return peek(engine => 'sim', machine => $machine, events => $events,
		command => @command ? \@command : [program('empty')]);
}

sub reason
{
	my ($run, $event) = @_;
	return region($run->{report})->{counts}{$event}{reason};
}

# ---- each that is compiled in ----

my @names = map { m{([^/]+)\.machine$} } glob(source() . '/base/machines/*.machine');
cmp_ok(scalar(@names), ">=", 26, "machines");
my $listed = run(command => [cli(), 'list', 'machines'])->{out};
for my $name ('host', @names) {
	my $run = simulate($name, 'instructions,l1d_accesses,l1d_misses,llc_misses');

	like($listed, qr/^\Q$name\E +\S/m, "$name is listed");
	is(scalar(@{$run->{notes}}), 0,
		"$name: nothing to complain about");
	like($run->{report}{machine}{description} // '', qr/^\Q$name\E: L1I /, "$name: is simulated");
	cmp_ok(value(region($run->{report}), 'l1d_accesses') // 0, '>', 0, "$name: counts");
}

{
	my $run = run(command => [cli(), qw(list machines zen4 skylake-sp)]);
	my ($zen4, $skylake) = map { (read_file(source() . "/base/machines/$_.machine") =~ /\A.*\n((?s).*)\z/)[0] } qw(zen4 skylake-sp);

	is($run->{out}, "zen4\n$zen4\nskylake-sp\n$skylake", 'list machines NAME: these, in full');
}

# ---- the host, which may be a virtual machine: it has a part of the L3 ----

{
	my ($flags) = read_file('/proc/cpuinfo') =~ /^(flags.*)/m;
	my $virtual = ($flags // '') =~ / hypervisor\b/ ? 1 : 0;
	my $told = simulate('host', 'instructions')->{report}{machine}{description};
	my ($l3, $all) = $told =~ /L3 ([\d.]+) MiB .*; a virtual machine: (?:its share of the L3 is unknown|\1 of ([\d.]+) MiB of L3 assumed)\)/;

	is(defined $l3 ? 1 : 0, $told =~ /L3 / ? $virtual : 0, 'host: what a virtual machine has of the L3 is unknown, or assumed') or diag($told);
	my $assumes = run(command => [cli(), 'doctor'])->{out} =~ s/\s+/ /gr;
	is($assumes =~ /time assumes [^;]*\bllc-size\b/ ? 1 : 0, defined $all ? 1 : 0, 'which doctor names') or diag($assumes);
	unlike(simulate('zen3', 'instructions')->{report}{machine}{description}, qr/virtual machine/,
		'no machine file depends on that');
}

# ---- what is sampled or swept of the host is the plain one ----

for (['sampled', [qw(run -E sim --sample=fast), '-m', 'host']], ['swept', [qw(run -E sim --sweep), 'L1D.ways=1..4', '-m', 'host']],
	['compared', [qw(compare --sample=fast -m), 'zen4,host']], ['changed', [qw(run -E sim -m plain)]]) {
	my ($what, $options) = @$_;
	my $out = write_file(scratch('to-sample.json'), '');
	my $run = run(command => [cli(), @$options, '-o', $out, '--', program('sampled_mix')]);
	my $json = read_file($out);

	like($json, qr/LRU and non-inclusive caches (?:chosen|assumed)/, "$what: without policies and prefetchers") || diag($run->{err});
	unlike($json, qr/policies/, "$what: the note has none of a model");
}

like(run(command => [cli(), qw(compare --sample=fast -m), 'plain,host', '-o', scratch('to-sample.json'), '--', which('env')])->{out},
	qr/=plain,plain,/, 'compared: the library is told so');

# ---- a processor's own names ----

{
	my $run = simulate('pentium-pro',
		'DATA_MEM_REFS,l1d_accesses,DCU_LINES_IN,L2_LINES_IN,ppro::BUS_TRAN_MEM,L2_IFETCH,l1i_misses');
	my $all = region($run->{report});

	is(value($all, 'DATA_MEM_REFS'), value($all, 'l1d_accesses'), 'pentium-pro: DATA_MEM_REFS');
	is(value($all, 'L2_IFETCH'), value($all, 'l1i_misses'), 'pentium-pro: L2_IFETCH');
	cmp_ok(value($all, 'ppro::BUS_TRAN_MEM'), '>=', value($all, 'L2_LINES_IN'),
		'pentium-pro: the bus moves what L2 gets');
}
{
	my $run = simulate('ixp45x', '0x7,instructions,0xa,0xB,0xC,0xD,l2_misses,llc_misses');
	my $all = region($run->{report});

	is(value($all, '0x7'), value($all, 'instructions'), 'ixp45x: 0x7');
	cmp_ok(value($all, '0xa'), '>', value($all, '0xB'), 'ixp45x: 0xA and 0xB in any case');
	like(reason($run, '0xD'), qr/0xD of machine ixp45x/, 'ixp45x: nobody counts branches');
	like(reason($run, 'l2_misses'), qr/ixp45x has no L2/, 'ixp45x: no L2 is not 0 misses');
	ok(reason($run, 'llc_misses'), 'ixp45x: nor a last level');
}
{
	my $run = simulate('itanium2', 'l1d_bypasses,l1d_load_misses,l1d_loads,L1DTLB_TRANSFER',
		program('columns'), 100, 1);
	my $all = region($run->{report});

	cmp_ok(value($all, 'l1d_bypasses'), '>=', 10000, 'itanium2: doubles are loaded from L2');
	cmp_ok(value($all, 'l1d_bypasses') + value($all, 'l1d_load_misses'), '<',
		value($all, 'l1d_loads'), 'itanium2: other loads are not');
	cmp_ok(value($all, 'l1d_load_misses'), '<', 5000, 'itanium2: and are no misses of L1D');
}
{
	my $run = simulate('sapphire-rapids', 'LONGEST_LAT_CACHE:MISS,llc_misses,L2_RQSTS:NONESUCH');
	my $all = region($run->{report});

	is(value($all, 'LONGEST_LAT_CACHE:MISS'), value($all, 'llc_misses'),
		'the presets of a PMU, read backwards');
	ok(reason($run, 'L2_RQSTS:NONESUCH'), 'and nothing else');
}
{
	my $run = simulate('neoverse-n2', 'llc_misses,l2_misses');

	is(value(region($run->{report}), 'llc_misses'), value(region($run->{report}), 'l2_misses'),
		'where nothing is behind L2, that is the last level');
}

# ---- a machine of one's own ----

my $own = <<'END';
# ten lines
cores = 4
l1i = 16K 4 32
l1d = 12K 3 32 round-robin write-through no-allocate prefetch=next-line
l2 = 96K 6 64 random=7 inclusive shared=2 prefetch=stream:2:4
llc = 1M 16 128 plru exclusive
itlb = 32 32
dtlb = 48 3 plru
dtlb2 = 512 4
memory-latency = 200
END

sub file { return write_file(scratch('own.machine'), $_[0]) }
{
	(my $sound = $own) =~ s/plru exclusive/plru inclusive/;
	$sound =~ s/48 3 plru/48 3/;
	my $run = simulate(file($sound), 'instructions,l2_accesses,l1d_stores');
	my $all = region($run->{report});

	is(scalar(@{$run->{notes}}), 0, 'ten lines make a machine');
	cmp_ok(value($all, 'l2_accesses'), '>', value($all, 'l1d_stores'),
		'stores go through a write-through L1D');
	like($run->{report}{machine}{description}, qr/L1D 12 KiB 3-way round-robin write-through/, 'so it says');
}

# The command and the library read it with the same code; the command needs no program for that.
sub mistake
{
	my ($text, $line, $why) = @_;
	my $run = run(command => [cli(), 'compare', '-m', file($text), 'true']);

	like($run->{err}, qr/\Acachepeek: [^\n]*own\.machine:$line: [^\n]*$why[^\n]*\n\z/, "line $line: $why");
	is(status_text($run->{status}), 'exit 2', "line $line: nothing is run");
}

sub mistake_of_program
{
	my ($text, $line, $why) = @_;
	my $run = simulate(file($text), 'instructions');

	like("@{$run->{notes}}", qr/own\.machine:$line: [^\n]*$why/, "a program, line $line: $why");
	like($run->{report}{machine}{description}, qr/^host/, "a program, line $line: the host's caches instead");
}

mistake_of_program("cores = 1\nl1d = 32K 8 64 mru\n", 2, 'mru');
mistake_of_program($own, 8, 'power of two');
mistake("cores = 1\nl1d = 32K 8 64 mru\n", 2, 'mru');
mistake($own, 8, 'power of two');
(my $text = $own) =~ s/48 3 plru/48 3/;
mistake($text, 6, 'lines of the level in front');
mistake("l1d = 32K 8\n", 1, 'SIZE WAYS LINE');
mistake("\nl1d = 32K 7 64\n", 2, 'multiple');
mistake("l1d = none\n", 1, 'absent');
mistake("dtlb = 64 4 write-through\n", 1, 'not for this level');
mistake("l1d = 32K 8 64 mru-n\n", 1, 'not for this level: mru-n');
mistake("llc = 8M 16 64 mrux\n", 1, 'not one of the words in cachepeek-machines\(5\): mrux');
mistake("llc = 8M 16 64 prefetch=next-line\n", 1, 'not for this level');
mistake("l1i = 32K 8 64\nl1d = 32K 8 64\nl2 = 1M 8 32\n", 3, 'smaller');
mistake("cores = 2\nl2 = 1M 8 64 shared=4\n", 2, 'more cores');
mistake("cores = 4\nllc = 1M 8 64 shared=8\n", 2, 'more cores');
mistake("cores = 4\nl2 = 1M 8 64 shared=2\nllc = 4M 8 64 shared=3\n", 3, 'same last level');
mistake("stlb = 512 4\ndtlb2 = 64 4\n", 1, 'leave one out');
mistake("cores = 2\npage = 5K\nl1i = 32K 8 64\n", 2, 'power of two from 1024');
mistake("page = 512\n", 1, 'power of two from 1024');
mistake("l1d = 32K 8 8\n", 1, '16, 32, 64, 128 or 256');
mistake("l1d = 32K 8 512\n", 1, '16, 32, 64, 128 or 256');
mistake("l1d = 32K 256 16\n", 1, '1 to 128');
mistake("l2 = 2G 1 64\n", 1, 'more than 16777216 sets');
mistake("l2 = 1M 8 64 prefetch=stream:$_\n", 1, 'at most 64 and 1024') for '0:4', '65:4', '4:0', '4:1025';
mistake("l1d = 32K 8 64 prefetch=$_->[0]\n", 1, $_->[1]) for
	['nextline', 'no such prefetcher: there are none next-line stream ip-stride streamer adjacent-line region up-down: nextline'],
	['next-line+', 'no such prefetcher'], ['next-line+none', 'of no prefetcher at all'],
	['next-line+next-line:4', 'one of each prefetcher: next-line'],
	['adjacent-line', 'not for this level: adjacent-line'],
	['next-line:65', 'next-line\[:RECENT\], at most 64'], ['next-line:0', 'at most 64'],
	['ip-stride', 'ip-stride:ENTRIES:STEPS:BYTES, at most 1024, 64 and 65536'],
	['ip-stride:16:1:8192', 'stays in the page'], ['streamer:4:8:16', 'no more lines ahead'],
	['streamer:8:17:16', 'at most 64, 16 and 64'], ['region:24:64', 'power of two'], ['region:16:64:1', 'at most 64 and 1024'],
	['next-line+stream:1:1+streamer:8:2:8+region:16:64+ip-stride:16:1:64', 'four prefetchers at most'];
mistake("page = 1K\nl1d = 32K 8 64 prefetch=region:32:64\n", 2, 'larger than a page');
mistake("l2 = 1M 8 64 prefetch=adjacent-line:2\n", 1, 'adjacent-line has no number');
mistake("l2 = 1M 8 64 prefetch=up-down\n", 1, 'up-down:RECENT');
mistake("prefetch = next-line\n", 1, 'expected none or on: next-line');
mistake("prefetch = on\n", 1, 'names no prefetchers');
mistake("l1d = 32K 8 64 latency=100001\n", 1, 'at most 100000');
mistake("l1d = 32K 8 64 random=x\n", 1, 'SEED wants a number');
mistake("l2 = 1M 8 64 shared=0\n", 1, 'from 1 to 4096');
mistake("l1d = 32K 8 64 fp-bypass\n", 1, 'write-through L1D and an L2');
mistake("l1d = 32K 8 64 write-through\nl2 = 1M 8 64 exclusive\n", 2, 'write-back and allocates');
mistake("l2 = 1M 8 64 exclusive prefetch=next-line\n", 1, 'only victims fill it');
mistake("events = one two\n", 1, 'one name');
mistake("page = 4K 4K\n", 1, 'one number');
mistake("levels = 3\n", 1, 'expected KEY');
mistake_of_program("levels = 3\n", 1, 'one of the keys in cachepeek-machines\(5\) \(the host');
mistake("cores = 0\n", 1, 'above 0');
mistake("timing = outoforder\n", 1, 'in-order or ooo');
mistake("page = 16K\ndtlb-2m = 8 4\n", 2, 'wants page = 4K');
mistake("stlb = none\nstlb-2m = 8 4\n", 2, 'no such level');
mistake("dtlb-2m = 9 4\n", 1, 'multiple');

for my $case ([scratch('absent.machine'), 'no such file or directory: check the path'], [scratch(), 'it is a directory: name a regular file']) {
	my ($name, $why) = @$case;
	my $run = simulate($name, 'instructions');
	my $line = "cachepeek: machine file $name: $why";

	is("@{$run->{notes}}", "$line (the host's caches are simulated instead)\n", "a file that $why");
	$run = run(command => [cli(), 'compare', '--machines', $name, 'true']);
	is($run->{err}, "$line\n", 'and for compare');
}

# A file's name is a path, as a program's is.
{
	my $folder = (write_file(scratch('nearly.machine'), "page = 4K\n") =~ m{(.*)/})[0];
	my $run = run(command => ['sh', '-c', "cd '$folder' && exec \"\$@\"", 'sh', cli(), '-E', 'sim', '-m', 'nearly.machine', '--', 'true']);

	is($run->{err}, "cachepeek: unknown machine nearly.machine: did you mean ./nearly.machine?\n", 'a file without a slash');
}

# ---- the keys of a core that executes out of order ----

my %ooo_range = (
	# least, most; what is below and above
	'width' => [0.1, 32, '0.09', '32.01'],
	'window' => [1, 4096, '0', '4097'],
	'mispredict-latency' => [1, 1000, '0', '1001'],
	'load-ports' => [0.1, 32, '0.09', '32.01'],
	'store-ports' => [0.1, 32, '0.09', '32.01'],
	'walkers' => [1, 16, '0', '17'],
	'l2-fill-buffers' => [1, 1024, '0', '1025'],
	'l2-cycles-per-line' => [0.01, 1000, '0', '1000.01'],
	'llc-cycles-per-line' => [0.01, 1000, '0', '1000.01'],
	'memory-cycles-per-line' => [0.01, 10000, '0', '10000.01'],
	'float-add-latency' => [1, 100, '0', '101'],
	'float-multiply-latency' => [1, 100, '0', '101'],
	'store-cycles-per-line' => [0.01, 1000, '0', '1000.01'],
	'set-cycles-per-line' => [0.01, 1000, '0', '1000.01'],
	'llc-cycles-per-lone-line' => [0.01, 1000, '0', '1000.01'],
	'load-set-cycles-per-line' => [0.01, 1000, '0', '1000.01'],
	'llc-set-cycles-per-line' => [0.01, 1000, '0', '1000.01'],
	'l2-banks' => [1, 64, '0', '65'],
);
my %ooo = (width => 4, window => 224, 'mispredict-latency' => 15);

sub out_of_order
{
	my %keys = (%ooo, @_);

	return "timing = ooo\nl1d = 32K 8 64 latency=4\nl2 = 256K 8 64 latency=14\n" .
		"llc = 2M 16 64 latency=50\nstlb = 512 4 latency=7\nmemory-latency = 200\n" .
		"walk-latency = 30\n" . join('', map { "$_ = $keys{$_}\n" } grep { defined $keys{$_} } sort keys %keys);
}

my %ends; # the name of a machine with the least or most of a key => which
for my $key (sort keys %ooo_range) {
	my @limit = @{$ooo_range{$key}};
	my $what = $limit[3] =~ /\./ ? "number from $limit[0] to $limit[1]," : "number above 0, at most $limit[1]";

	mistake("cores = 1\n$key = $_\n", 2, "$what.*: $key\\b") for @limit[2, 3];
	for my $end (@limit[0, 1]) {
		my $name = scratch("$key-$end.machine");

		write_file($name, out_of_order($key => $end));
		$ends{$name} = "$key = $end";
	}
}
# 16 of them beside each other: a run for each would take most of this test's time.
my @ends = sort keys %ends;
while (my @some = splice(@ends, 0, 16)) {
	my $json = scratch('ends.json');
	my $run = run(command => [cli(), 'compare', '-m', join(',', @some), '-e', 'cycles', '-o', $json, program('empty')]);
	my %cycles = map { $_->{name} => $_->{counts}{cycles}{value} } @{Json::decode_json(read_file($json) // '{}')->{machines}};

	is($run->{err}, '', 'the ends of ranges: nothing to complain about');
	cmp_ok($cycles{$_} // 0, '>', 0, "$ends{$_}: cycles") for @some;
}
mistake("width = $_\n", 1, 'number from 0.1 to 32') for '1.234', '1.', '2 3', 'x', '';
for my $key (sort keys %ooo) {
	my $run = simulate(file(out_of_order($key => undef)), 'cycles');

	like(reason($run, 'cycles'), qr/names no latency of \Q$key\E$/, "without $key there are no cycles");
}
{
	my @parts = map { "time_$_" } qw(issue branch l2 l3 memory tlb bandwidth store);
	my @events = ('cycles', 'instructions', 'l1d_misses', @parts);
	my $run = simulate(file(out_of_order()), join(',', @events), program('columns'), 100, 1);
	my $all = region($run->{report});
	my $plain = region(simulate(file(out_of_order() =~ s/ooo/in-order/r), join(',', @events),
		program('columns'), 100, 1)->{report});
	my $sum = 0;

	$sum += value($all, $_) for @parts;
	is($sum, value($all, 'cycles'), 'out of order: the parts are the cycles');
	is($all->{counts}{cycles}{status}, 'estimated', 'out of order: estimated');
	is($all->{counts}{cycles}{reason}, 'out-of-order timing model of machine ' . scratch('own.machine'), 'and by what');
	is($plain->{counts}{cycles}{reason}, 'in-order timing model of machine ' . scratch('own.machine'), 'in order: by that');
	cmp_ok(value($all, 'time_issue'), '>=', value($all, 'instructions') / 4 - 1, 'at most four instructions a cycle');
	cmp_ok(value($all, 'cycles'), '<', value($plain, 'cycles'), 'out of order is faster');
	is(value($all, $_), value($plain, $_), "$_ do not depend on the model") for 'instructions', 'l1d_misses';
}

# Where a branch goes is told by what is there, and not by its line alone: two targets are in
# one line, and nothing tells which is next; or the same one always is.
{
	my $source = write_file(scratch('branches.c'), <<'C');
int main(int argc, char **argv)
{
	unsigned long x = 1, v = 0, n = 100000, times = argc > 1 ? 6364136223846793005ul : 1;

	(void)argv;
#ifdef __x86_64__
	__asm__ volatile(".p2align 6\n1:\nimul %[times], %[x]\nadd $7, %[x]\nbt $40, %[x]\njc 2f\n"
			 "add $1, %[v]\njmp 3f\n2: add $3, %[v]\n3: dec %[n]\njnz 1b\n"
			 : [x] "+r"(x), [v] "+r"(v), [n] "+r"(n) : [times] "r"(times) : "cc");
#else
	__asm__ volatile(".p2align 6\n1:\nmul %[x], %[x], %[times]\nadd %[x], %[x], #7\n"
			 "tbnz %[x], #40, 2f\nadd %[v], %[v], #1\nb 3f\n2: add %[v], %[v], #3\n"
			 "3: subs %[n], %[n], #1\nb.ne 1b\n"
			 : [x] "+r"(x), [v] "+r"(v), [n] "+r"(n) : [times] "r"(times) : "cc");
#endif
	return v == 42;
}
C
	my $program = scratch('branches');
	is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-o', $program, $source])->{status}, 0, 'compiled');
	my ($known, $random) = map { value(region(simulate(file(out_of_order()), 'time_branch', $program, @$_)->{report}), 'time_branch') } [], [1];
	my ($latency) = out_of_order() =~ /^mispredict-latency = (\d+)/m;

	cmp_ok($random - $known, '>', 40000 * $latency, 'random targets in one line are not foreseen');
	cmp_ok($random - $known, '<', 60000 * $latency, 'nor more of them than there are');
}

# Beside others a machine has the cycles that it has alone, of a program into which nothing
# is preloaded; those of other widths are in another run.
{
	my @cycles;

	write_file(scratch("$_->[0].machine"), $_->[1]) for ['wide', out_of_order()],
		['narrow', out_of_order(width => 2)], ['ordered', out_of_order() =~ s/ooo/in-order/r];
	for my $machines (['wide'], ['narrow'], ['ordered', 'wide', 'narrow']) {
		my $json = scratch('compared.json');
		my $run = run(command => [cli(), 'compare', '-m', join(',', map { scratch("$_.machine") } @$machines),
			'-e', 'cycles', '-o', $json, program('static_columns'), 20, 1]);

		is($run->{err} =~ /cachepeek: /, '', "@$machines: compared") || diag($run->{err});
		push @cycles, map { $_->{counts}{cycles}{value} } @{Json::decode_json(read_file($json) // '{}')->{machines}};
	}
	cmp_ok($cycles[0], '<', $cycles[1], 'narrow is slower than wide');
	is($cycles[3], $cycles[0], 'the same cycles beside a machine in order');
	cmp_ok($cycles[3], '<', $cycles[4], 'narrow is slower in another run, too');
}

# ---- programs into which nothing can be preloaded ----

{
	my $json = scratch('static.json');
	my $run = run(command => [cli(), '-E', 'sim', '-m', bare('zen3'), '-o', $json, program('static')]);
	my $report = Json::decode_json(read_file($json) // '{}');
	my $whole = region($report);

	is($run->{out}, "static\n", 'a static program: its output');
	is(status_text($run->{status}), 'exit 17', 'its status');
	is($report->{processes}[0]{exit}{code}, 17, '... which the report has');
	like($report->{machine}{description}, qr/zen3\.machine: L1I/, 'the machine');
	cmp_ok(value($whole, 'instructions') // 0, '>', 10000, 'the whole run is counted');
	cmp_ok(value($whole, 'l1d_misses') // 0, '>', 100, 'with its misses');
	like(join("\n", @{$report->{warnings}}), qr/^a static program: .* without its children$/m, 'and what is not');
	$run = run(command => [cli(), program('static')], env => {CACHEPEEK_ENGINE => 'perf'});
	like($run->{err}, qr/\A[^\n]*static is statically linked: [^\n]*-E sim[^\n]*\n\z/, 'on perf it is not counted: what does');
	is(status_text($run->{status}), 'exit 17', 'and it runs');
	$run = run(command => [cli(), program('static')]);
	like($run->{err}, qr/static is statically linked: (?:counted as a whole|[^\n]* uncounted)/, 'by itself one or the other');
	is(status_text($run->{status}), 'exit 17', 'and it runs');

	for my $preload (undef, '/nowhere.so') {
		my @given = (env => {LD_PRELOAD => $preload});
		my $alone = run(command => [program('static'), 'given'], @given);
		$run = run(command => [cli(), '-E', 'sim', program('static'), 'given'], @given);
		is($run->{out}, $alone->{out}, 'its arguments, variables and names are as alone' . ($preload ? ', with what is preloaded' : ''));
	}

	# Programs that the simulator cannot run, or cannot tell the counts of.
	my $copy = scratch('static');
	run(command => ['cp', program('static'), $copy]);
	chmod(04755, $copy);
	for (['set-user-ID', qr/ runs uncounted \(the simulated PMU does not run it: it is set-user-ID or set-group-ID\)$/m, 'exit 17', $copy],
		['with little memory', qr/ runs uncounted \(the simulated PMU takes \d+ MiB of memory, more than the limits allow: .*\)$/m, 'exit 17',
			program('static'), 'ulimit -v 300000'],
		['that executes another', qr/ is not counted: it became another program before /, 'exit 17', program('static'), '', 'executes'],
		['that is killed, behind a child', qr/ is not counted: it was killed before /, 'signal 9', program('static'), '', 'killed']) {
		my ($what, $line, $status, $program, $limit, @given) = @$_;
		$run = run(command => ['sh', '-c', ($limit || ':') . '; exec "$@"', 'sh', cli(), '-E', 'sim', $program, @given]);
		is(status_text($run->{status}) . " $run->{out}", $status . ($status eq 'exit 17' ? " static\n" : ' '), "a static program $what runs");
		like($run->{err}, $line, '... and the line says why it is not counted');
		unlike($run->{err}, qr/^served by/m, '... nor is it another');
	}
	$run = run(command => [cli(), '-E', 'sim', '-m', 'zen3', '-o', $json, program('static')], env => {CACHEPEEK_TIMING => 'off'});
	is(value(region(Json::decode_json(read_file($json) // '{}')), 'cycles'), undef, 'a static program without the model of time');
	$run = run(command => [cli(), '-E', 'sim', '-v', program('static')]);
	like($run->{err}, qr{^(?:# )?limits }m, '... with -v');

	my (%misses, @data);
	for my $program ('chase', 'static_chase') {
		run(command => [cli(), 'dcache', '-m', bare('zen3'), '-o', $json, program($program), 20000, 200000]);
		my $profile = Json::decode_json(read_file($json) // '{}');
		@data = @{$profile->{data} || []};
		for (grep { $_->{function} eq 'main' } @{$profile->{functions}}) {
			$misses{$program} += $_->{counts}{l1d_load_misses} + $_->{counts}{l1d_store_misses};
		}
	}
	cmp_ok($misses{chase} // 0, '>', 10000, 'the profile of a program that misses');
	like($data[0]{name} // '', qr/^Mapped: static_chase::\w*mmap\w*, [1-9]\d+ B/, 'what it mapped has a name, and a size');
	cmp_ok(abs(($misses{static_chase} // 0) - $misses{chase}), '<=', 0.01 * $misses{chase}, '... and of the same one, linked statically');
}

# One for 32-bit x86, of a dozen bytes: exit(3).
SKIP: {
	my $code = pack('C*', 0xb8, 1, 0, 0, 0, 0xbb, 3, 0, 0, 0, 0xcd, 0x80);
	my $at = 0x08048000;
	my $small = write_file(scratch('elf32'), "\x7fELF" . pack('C5x7', 1, 1, 1, 0, 0) .
		pack('vvVVVVVvvvvvv', 2, 3, 1, $at + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0) .
		pack('V8', 1, 0, $at, $at, 96, 96, 5, 0x1000) . $code);
	chmod(0755, $small);
	skip('no 32-bit programs run here', 7) if status_text(run(command => [$small])->{status}) ne 'exit 3';
	for my $engine ('sim', 'perf') {
		my $run = run(command => [cli(), '-E', $engine, $small]);
		like($run->{err}, qr/\A[^\n]*elf32 is a 32-bit program[^\n]*uncounted[^\n]*\n\z/, "$engine: one line for a 32-bit program");
		is(status_text($run->{status}), 'exit 3', "$engine: and it runs");
	}
	my $run = simulate('zen3', 'instructions', which('sh'), '-c', "$small; echo child \$?; /bin/true; exit 5");
	is($run->{out}, "child 3\n", 'as a child it runs');
	is(status_text($run->{status}), 'exit 5', 'and so does its parent');
	cmp_ok(value(region($run->{report}), 'instructions') // 0, '>', 10000, 'whose report is intact');
}

# ---- what the simulated CPU cannot do, and the host may ----

SKIP: {
	skip('another architecture', 3) if `uname -m` !~ /x86_64/;
	my $natively = run(command => [program('avx512')]);
	my $run = simulate('cachegrind', 'instructions', program('avx512'));

	is(status_text($run->{status}), status_text($natively->{status}), 'AVX-512 ends as it does natively');
	is($run->{out}, $natively->{out}, 'with the same output');
	skip('this machine has AVX-512', 1) if $natively->{status} == 0;
	like(join("\n", @{$run->{report}{warnings}}), qr/SIGILL of [^:]*\(AVX-512\)/, 'and the report says why');
}

done_testing;
