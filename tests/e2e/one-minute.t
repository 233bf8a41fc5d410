#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The first minute of a user: programs with one problem each, of which level, region, line and
# kind are known.  The first 24 rows of the report on a terminal of 80 columns name level
# and region, those of the profile kind and place; of three programs of others, and two of
# ours, without a problem both say that there is nothing to mend.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $common = <<'C';
#include <cachepeek.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#define SIZE(bytes) ((bytes) / sizeof(long))
uint64_t x = 88172645463325252ul;
uint64_t next(void) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }
struct node { struct node *next; long value; char rest[48]; };
struct node *shuffled(struct node *node, long n)
{
	long *order = malloc(n * sizeof(*order));
	for (long i = 0; i < n; i++) order[i] = i;
	for (long i = n - 1; i > 0; i--) { long j = next() % i, o = order[i]; order[i] = order[j]; order[j] = o; }
	for (long i = 0; i < n; i++) node[order[i]].next = &node[order[(i + 1) % n]];
	free(order);
	return node;
}
C

# Name, level of the report, declarations (setup() comes first), the loop of the region "hot"
# on one line, how often, and of the profile: rule, what it is about (the line, if that is
# not given) and measurement.
my @planted = (
	['columns of a matrix that fits L2', 'L2', 'double m[256][256];',
		'for (int j = 0; j < 256; j++) for (int i = 0; i < 256; i++) s += m[i][j];', 8, 'set-conflicts'],
	['columns of one that does not', 'L3', 'double m[640][512];',
		'for (int j = 0; j < 512; j++) for (int i = 0; i < 640; i++) s += m[i][j];', 4, 'stride'],
	['columns of one that fits no cache', 'memory', 'float m[3500][2048];',
		'for (int j = 0; j < 2048; j += 32) for (int i = 0; i < 3500; i++) s += m[i][j];', 1, 'stride'],
	['a member of large structures', 'memory', 'struct { long key; char rest[184]; } r[70000];',
		'for (int i = 0; i < 70000; i++) s += r[i].key;', 4, 'stride'],
	['a list in L3', 'L3', 'struct node node[24000], *p; void setup(void) { p = shuffled(node, 24000); }',
		'for (int i = 0; i < 24000; i++) { s += p->value; p = p->next; }', 8, 'pointer-chase'],
	['a list in memory', 'memory', 'struct node node[120000], *p; void setup(void) { p = shuffled(node, 120000); }',
		'for (int i = 0; i < 120000; i++) { p = p->next; s += p->value; }', 4, 'pointer-chase'],
	['a little more than L2 holds', 'L3', 'long a[SIZE(1500000)];',
		'for (unsigned long i = 0; i < SIZE(1500000); i += 8) s += a[i];', 12, 'working-set', 'planted::a'],
	['writes that nobody reads', 'memory', 'long a[SIZE(8000000)];',
		'for (unsigned long i = 0; i < SIZE(8000000); i += 8) a[i] = s + i;', 3, 'streaming-writes', 'planted::a'],
	['look-ups in more pages than the TLBs hold', 'page walks', 'char a[8000][4096];',
		'for (int i = 0; i < 60000; i++) { int k = next() % 8000; s += a[k][k / 16 * 64 & 4032]; }', 4, 'tlb-reach', 'planted::a', 'dtlb'],
	['two threads on one line', "other threads' lines", "struct { volatile long mine, yours; char rest[48]; } t __attribute__((aligned(64)));\n" .
		"volatile int turn __attribute__((aligned(64)));\n" .
		'static void wait(int me) { while (turn != me) sched_yield(); }' . "\n" .
		'void *yours(void *u) { CACHEPEEK_BEGIN("hot"); for (int i = 0; i < 9000; i++) { wait(1); t.yours++; turn = 0; } CACHEPEEK_END("hot"); return u; }',
		'pthread_t h; pthread_create(&h, 0, yours, 0); for (int i = 0; i < 9000; i++) { wait(0); t.mine++; turn = 1; } pthread_join(h, 0); s += t.mine;',
		1, 'false-sharing', 'planted::t', 'dcache --sharing'],
	['code that does not fit L1I', 'code', join('', map { "__attribute__((noinline)) long f$_(long a) { " .
		join(' ', map { "a = a * $_ + (a >> 3);" } 1 .. 60) . " return a; }\n" } 1 .. 120),
		join(' ', map { "s += f$_(s);" } 1 .. 120), 40, 'code-misses', "the run's code", 'icache'],
	['counts in a table that fits no cache', 'memory', 'long table[1 << 20];',
		'for (int i = 0; i < 60000; i++) table[next() % (1 << 20)]++;', 1, 'cold-updates'],
);

my $script = terminal_script() or plan(skip_all => 'no script(1) (util-linux), or no terminals for it');
my $machine = write_file(scratch('small.machine'), "l1i = 32K 8 64\nl1d = 32K 8 64\nl2 = 1M 16 64\nllc = 4M 16 64\n" .
	"itlb = 64 4\ndtlb = 64 4\nstlb = 1024 8\npage = 4096\ncores = 2\n");

# The first 24 lines on a terminal.
sub screen
{
	my (@command) = @_;
	my $to = scratch('typescript');
	unlink($to);
	run(command => [$script, '-qec', 'stty rows 24 cols 80; ' . join(' ', cli(), @command), $to]);
	my @lines = lines_shown(read_file($to) // '');
	return join("\n", @lines[0 .. ($#lines < 23 ? $#lines : 23)]) . "\n";
}

sub compile
{
	my ($declare, $loop, $times) = @_;
	$declare .= "\nvoid setup(void) { }" if $declare !~ /setup/;
	my $file = scratch('planted');
	my $source = "$common$declare\nint main(void)\n{\n\tlong s = 0;\n\tprctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);\n" .
		"\tsetup();\n\tCACHEPEEK_BEGIN(\"cold\");\n\tfor (long i = 0; i < 300000; i++) s += i * s;\n\tCACHEPEEK_END(\"cold\");\n" .
		"\tfor (int round = 0; round < $times; round++) {\n\t\tCACHEPEEK_BEGIN(\"hot\");\n\t\t$loop\n\t\tCACHEPEEK_END(\"hot\");\n\t}\n" .
		"\treturn s == 7;\n}\n";
	write_file("$file.c", $source);
	my ($line) = grep { (split(/\n/, $source))[$_ - 1] =~ /^\t\t(?!CACHEPEEK)/ } 1 .. ($source =~ tr/\n//);
	is(run(command => [(split(' ', $ENV{CC} || 'gcc'))[0], '-O1', '-g', '-w', '-pthread', '-I' . source() . '/regions', '-o', $file, "$file.c"])->{status},
		0, 'compiled');
	return ($file, $line);
}

for my $planted (@planted) {
	my ($what, $level, $declare, $loop, $times, $rule, $data, $command) = @$planted;
	my ($program, $line) = compile($declare, $loop, $times);
	my $report = screen('-E', 'sim', '-m', $machine, $program);
	like($report =~ s/\n {11}/ /gr, qr/^look first hot: ~\d+ % of the miss cost, ~\d+ % of that for \Q$level\E \(/m, "$what: level and region")
		or diag($report);
	my $profile = screen(split(/ /, $command // 'dcache'), '-m', $machine, $program);
	my $place = $data ? qr/\Q$data\E/ : qr/planted::main \(planted\.c:$line\)/;
	like($profile, qr/^$rule: .*?$place/m, "$what: kind and place") or diag($profile);
	next unless $rule eq 'false-sharing';
	my $shared = screen('sharing', '-m', $machine, $program);
	like($shared, qr/^$rule: $place$/m, "$what: cachepeek sharing, too") or diag($shared);
	like($shared, qr/^$place \(planted\.c:\d+\) +false +1 +2 +[\d,]+$/m, "$what: of which line and threads");
}

# ---- nothing to mend ----

my $text = write_file(scratch('words.txt'), join(' ', map { ('cache', 'line', 'miss', 'set')[$_ * 7919 % 4] . $_ % 97 } 1 .. 60000));
my $sql = write_file(scratch('q.sql'), "create table t(a integer, b text);\n" .
	"with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) " .
	"insert into t select x * 7919 % 20000, 'row ' || x from c;\ncreate index i on t(a);\n" .
	"select count(*), sum(length(b)) from t where a between 100 and 9000;\n");
my @fine = (['gzip', '-c', $text], ['sqlite3', ':memory:', "'.read $sql'"],
	['/usr/bin/python3', '-c', "'print(sum(len(str(i * i)) for i in range(100000)))'"]);
for my $command (@fine) {
	my $name = $command->[0];
	# Misses of gzip and Python are a larger part of the time than of what they would cost.
	my $report = screen('-E', 'sim', '-m', 'skylake-sp', $name eq 'sqlite3' ? () : ('-g', 'cache'), @$command);
	like($report =~ s/\n {11}/ /gr, qr/^miss cost .*: nothing to mend$/m, "$name: nothing to mend") or diag($report);
	unlike($report, qr/^look first/m, "$name: and nowhere to look first");
	my $profile = screen('dcache', '-m', 'skylake-sp', @$command);
	like($profile, qr/^Findings\nno rule finds anything to mend/m, "$name: no rule speaks") or diag($profile);
	like(screen('sharing', @$command), qr/^sharing +nothing to mend: no process had a second thread$/m, "$name: nothing to keep apart");
}
done_testing();
