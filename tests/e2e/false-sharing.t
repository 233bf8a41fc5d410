#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The finding of false sharing: programs with random names, sizes and strides whose
# threads write different bytes of one line, and others that only look so.
# ADVICE_SEEDS=20 (default: 1 each way).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;
use Words;

my $seeds = $ENV{ADVICE_SEEDS} || 1;

# Two threads that do something to $rounds elements, so many bytes from each other, of what
# belongs to each: [name of the first's, name of the second's].  In how: there: variables of
# one line; padded: of two; read: both are only read; one: the second thread waits; true:
# both write the first; halves: one array, of which each has every other element.
sub compile
{
	my ($file, $rounds) = @_;
	my $size = (1, 2, 4, 8)[rand 4];
	my $type = {1 => 'char', 2 => 'short', 4 => 'int', 8 => 'long'}->{$size};
	my $at = $size * between(0, 32 / $size - 1);
	my $other = $at + $size * between(1, 24 / $size);
	my ($first, $second, $function, $array, $one, $two) = map { name() } 1 .. 6;
	my $elements = between(8, 100);
	# Compilers order variables as they like.
	my $variables = sub {
		my ($one, $two, $from, $to) = @_;
		return ".balign 128\\n.zero $from\\n.type $one, \%object\\n.size $one, $size\\n$one: .zero $size\\n" .
			".zero " . ($to - $from - $size) . "\\n.type $two, \%object\\n.size $two, $size\\n$two: .zero $size\\n.zero 128\\n";
	};
	my $source = <<"C";
#include <pthread.h>
#include <string.h>
__asm__(".pushsection .data\\n@{[$variables->($first, $second, $at, $other)]}@{[$variables->($one, $two, $at, $at + 64)]}.popsection\\n");
extern volatile $type $first __attribute__((visibility("hidden"))), $second __attribute__((visibility("hidden"))),
	$one __attribute__((visibility("hidden"))), $two __attribute__((visibility("hidden")));
static volatile $type $array\[2 * $elements] __attribute__((aligned(64)));
static pthread_barrier_t both;
static const char *how;
struct work { volatile $type *at; long stride, n; int reads; };
static void *$function(void *of)
{
	const struct work *w = of;
	long sum = 0;
	pthread_barrier_wait(&both);
	for (long i = 0; i < $rounds; i++)
		for (long k = 0; k < w->n; k++)
			if (w->reads)
				sum += w->at[k * w->stride];
			else
				w->at[k * w->stride]++;
	return (void *)sum;
}
int main(int argc, char **argv)
{
	how = argc > 1 ? argv[1] : "there";
	struct work a __attribute__((aligned(128))) = {&$first, 1, 1, 0}, b __attribute__((aligned(128))) = {&$second, 1, 1, 0};
	pthread_t thread[2];
	if (!strcmp(how, "padded")) a.at = &$one, b.at = &$two;
	if (!strcmp(how, "read")) a.reads = b.reads = 1;
	if (!strcmp(how, "one")) b.n = 0;
	if (!strcmp(how, "true")) b.at = a.at;
	if (!strcmp(how, "halves"))
		a.at = $array, b.at = $array + 1, a.stride = b.stride = 2, a.n = b.n = $elements;
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&thread[0], 0, $function, &a);
	pthread_create(&thread[1], 0, $function, &b);
	pthread_join(thread[0], 0);
	pthread_join(thread[1], 0);
	return 0;
}
C
	write_file("$file.c", $source);
	system('cc', '-O1', '-g', '-pthread', '-o', $file, "$file.c") == 0 or die $source;
	return [$first, $second], $array;
}

sub outcome
{
	my ($command, @rest) = @_;
	my $json = scratch('report.json');
	unlink($json);
	my $run = run(command => [cli(), $command, '-m', 'skylake-sp', '-o', $json, @rest]);
	my $report = eval { decode_json(read_file($json) // '') };
	diag($run->{err}) unless $report;
	return $report;
}

sub findings { return grep { $_->{rule} eq 'false-sharing' } @{outcome(@_)->{findings}} }
sub data { return [map { $_->{data} =~ s/\w+:://gr } @_] }

my ($file, $names, $rounds);
for my $seed (1 .. $seeds) {
	srand($seed);
	$file = scratch("shares$seed");
	$rounds = between(2100, 9000);
	($names, my $array) = compile($file, $rounds);
	# skylake-sp's lines have 64 bytes.
	my @found = findings('sharing', $file, 'there');
	is_deeply(data(@found), ["$names->[0], $names->[1]"], "seed $seed: what is there is found");
	like($found[0]{evidence} =~ s/,//gr,
		qr/ write $rounds and $rounds times to different bytes of line 0x[0-9a-f]+: up to @{[2 * $rounds]} transfers/,
		'and how often');
	is_deeply(data(findings('dcache', '--sharing', $file, 'halves')), [$array], "seed $seed: and in an array");
	is_deeply([data(findings('sharing', $file, $_))], [[]], "seed $seed: not what is not ($_)")
		for qw(padded read one true);
}

# A thread that clears a line, or looks at it once, does not need what others do there; what one of
# them waits for is true sharing, of so many references as its writer has.
for my $case (['cleared', 'false-sharing'], ['looked at', 'false-sharing'], ['flag', 'false-sharing'], ['same', 'contended-line']) {
	my ($how, $rule) = @$case;
	my ($one, $other) = (between(0, 3), between(4, 7));
	my %before = (cleared => 'memset((void *)counts, 0, 64);', 'looked at' => 'for (int i = 0; i < 8; i++) sum += counts[i];');
	$other = $one if $how eq 'same';
	write_file(scratch('line.c'), <<"C");
#include <pthread.h>
#include <string.h>
static volatile long counts[8] __attribute__((aligned(64)));
static pthread_barrier_t both;
static void *count(void *at)
{
	volatile long *mine = at, sum = 0;
	@{[$before{$how} // '']}
	pthread_barrier_wait(&both);
	for (int i = 0; i < 5000; i++)
		(*mine)++;
	@{[$how eq 'flag' ? "if (mine == &counts[$one]) counts[$other]++;" : '']}
	return 0;
}
int main(void)
{
	pthread_t thread[2];
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&thread[0], 0, count, (void *)&counts[$one]);
	pthread_create(&thread[1], 0, count, (void *)&counts[$other]);
	pthread_join(thread[0], 0);
	pthread_join(thread[1], 0);
	return 0;
}
C
	system('cc', '-O1', '-g', '-fno-builtin', '-pthread', '-o', scratch('line'), scratch('line.c')) == 0 or die 'cc';
	my @found = map { "$_->{rule}: $_->{data}" =~ s/line::|\s.line\.c:3.//gr } @{outcome('sharing', scratch('line'))->{findings}};
	is_deeply(\@found, ["$rule: counts"], "a line that is $how: $rule");
}

# Readers take a line from nobody: three stores make no more than three transfers of two threads.
write_file(scratch('reads.c'), <<'C');
#include <pthread.h>
static volatile long table[8] __attribute__((aligned(64)));
static pthread_barrier_t both;
static void *look(void *writes)
{
	long sum = 0;
	for (int i = 0; writes && i < 3; i++)
		table[i] = i;
	pthread_barrier_wait(&both);
	for (int i = 0; i < 40000; i++)
		sum += table[i % 8];
	return (void *)sum;
}
int main(void)
{
	pthread_t thread[2];
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&thread[0], 0, look, (void *)table);
	pthread_create(&thread[1], 0, look, 0);
	pthread_join(thread[0], 0);
	pthread_join(thread[1], 0);
	return 0;
}
C
system('cc', '-O1', '-g', '-pthread', '-o', scratch('reads'), scratch('reads.c')) == 0 or die 'cc';
is_deeply([map { $_->{transfers_at_most} } grep { grep { grep { $_->{name} =~ /::table/ } @{$_->{data}} } @{$_->{threads}} }
	@{outcome('sharing', '--least', 1, scratch('reads'))->{lines}}], [3], 'a table that is read: as many transfers as stores');

# ---- the limits ----

is_deeply(data(findings('sharing', '--least', 1000000, $file)), ["$names->[0], $names->[1]"],
	'whatever the list leaves out');
is_deeply([findings('sharing', program('sharing'), 'false', 1900)], [], 'below 2,000 writes');
is_deeply([findings('sharing', program('sharing'), 'queue', 5000)], [], 'a queue');
is_deeply(data(findings('sharing', program('sharing'), 'heap', 5000)), ['Heap: main, small blocks'], 'a block of the heap')
	or diag(explain([findings('sharing', program('sharing'), 'heap', 5000)]));

# ---- where nobody looked ----

{
	my $report = outcome('dcache', $file, 'there');
	is_deeply([grep { $_->{rule} eq 'false-sharing' } @{$report->{findings}}], [], 'dcache: it is not looked at unasked');
	like($report->{not_looked_at}, qr/^false-sharing, .*--sharing/, 'and the report says so');
	my $text = run(command => [cli(), 'dcache', '-o', '-', $file, 'there'])->{out};
	like($text, qr/^Findings.*^Not looked at: false-sharing,/ms, 'the text, too');
	is(outcome('dcache', '--sharing', $file, 'there')->{not_looked_at}, undef, 'with --sharing it is');
	is(outcome('dcache', program('empty'))->{not_looked_at}, undef, 'nor is there anything with one thread');
	is(outcome('dcache', 'sh', '-c', program('empty') . '; true')->{not_looked_at}, undef, 'or with one in each process');
	is(outcome('dtlb', $file, 'there')->{not_looked_at}, undef, 'or of a TLB');
}
for my $bad (['dtlb', '--sharing'], ['dcache', '-E', 'perf', '--sharing']) {
	my $run = run(command => [cli(), @$bad, $file]);
	is(status_text($run->{status}), 'exit 2', "@$bad: refused");
	like($run->{err}, qr/^cachepeek: --sharing: expected with dcache on the simulated PMU/, 'and why');
}

# ---- turns ----

{
	my @found = findings('sharing', '--quantum', 10, program('sharing'), 'false', 5000);
	like($found[0]{evidence}, qr/ of them if threads take turns of 10 data references /, 'turns are among the evidence');
}

# ---- a real program with threads ----

SKIP: {
	skip 'no xz here', 1 unless which('xz');
	my $text = write_file(scratch('text'), join('', map { read_file($_) } glob(source() . '/tests/sim/*.t')));
	is_deeply([findings('sharing', 'xz', '-T2', '-1', '--block-size=20000', '-k', '-c', $text)], [],
		'xz -T2: nothing to find');
}

done_testing;
