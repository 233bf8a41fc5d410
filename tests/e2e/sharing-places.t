#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek sharing: where in the code each of two threads uses a line that both use.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

plan(skip_all => why_not('sim')) if why_not('sim');

my $text = <<'C';
#include <pthread.h>
#include <stdlib.h>
static struct { long pushed, popped; } ends __attribute__((aligned(64)));
static struct { int lock; long value; } queue __attribute__((aligned(64)));
static struct { long wiped, streamed; } far __attribute__((aligned(64)));
static long many[8] __attribute__((aligned(64)));
static long constant __attribute__((aligned(64)));
static volatile long sum[16] __attribute__((aligned(64)));
static pthread_barrier_t both;
static long rounds;
#define VOLATILE(x) (*(volatile long *)&(x))
static void *push(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++)
		VOLATILE(ends.pushed)++; /* push */
	return unused;
}
static void *pop(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++)
		VOLATILE(ends.popped)++; /* pop */
	return unused;
}
static void *put(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++) {
		while (__atomic_exchange_n(&queue.lock, 1, __ATOMIC_ACQUIRE)) /* put */
			;
		queue.value++; /* put */
		__atomic_store_n(&queue.lock, 0, __ATOMIC_RELEASE); /* put */
	}
	return unused;
}
static void *take(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++) {
		while (__atomic_exchange_n(&queue.lock, 1, __ATOMIC_ACQUIRE)) /* take */
			;
		queue.value--; /* take */
		__atomic_store_n(&queue.lock, 0, __ATOMIC_RELEASE); /* take */
	}
	return unused;
}
static void *tell(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++)
		VOLATILE(constant) = i; /* tell */
	return unused;
}
static void *ask(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++)
		sum[0] += VOLATILE(constant); /* ask */
	return unused;
}
/* A string instruction, and a store past the caches. */
#ifdef __x86_64__
#define WIPE(at) __asm__ volatile("rep stosb" : "+D"(start), "+c"(bytes) : "a"(0) : "memory")
#define STREAM(at, value) __asm__ volatile("movnti %1, %0" : "=m"(at) : "r"(value))
#else
#define WIPE(at) (bytes = 0, VOLATILE(*start) = 0)
#define STREAM(at, value) (VOLATILE(at) = (value))
#endif
static void *wipe(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++) {
		long *start = &far.wiped, bytes = sizeof(*start);
		WIPE(start); /* wipe */
	}
	return unused;
}
static void *stream(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++)
		STREAM(far.streamed, i); /* stream */
	return unused;
}
/* More statements than there are places, the first one in a header of the system. */
#line 1 "/usr/include/lock.h"
static inline __attribute__((always_inline)) void lock(void) { VOLATILE(many[0]) = 1, VOLATILE(many[0]) = 2; }
#line 1 "own.c"
static void *fill(void *unused)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++) {
		lock();
		VOLATILE(many[1]) = i;
		VOLATILE(many[2]) = i;
		VOLATILE(many[3]) = i;
		VOLATILE(many[4]) = i;
		for (int k = 0; k < 20; k++)
			(void)VOLATILE(many[1]);
	}
	return unused;
}
int main(int argc, char **argv)
{
	static void *(*const work[])(void *) = {push, pop, put, take, tell, ask, wipe, stream, fill, fill};
	int which = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t one, other;
	rounds = argc > 2 ? atol(argv[2]) : 0;
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&one, 0, work[2 * which], 0);
	pthread_create(&other, 0, work[2 * which + 1], 0);
	pthread_join(one, 0);
	return pthread_join(other, 0);
}
C
my $source = write_file(scratch('queue.c'), $text);
my ($program, $stripped) = (scratch('queue'), scratch('bare'));
is(run(command => ['cc', '-g', '-O1', '-pthread', '-o', $program, $source])->{status}, 0, 'a program with symbols');
is(run(command => ['strip', '-o', $stripped, $program])->{status}, 0, '... and one without');

# The numbers of the lines that say so.
my @source = split(/\n/, $text);
sub lines_of { my ($name) = @_; return grep { $source[$_ - 1] =~ m{/\* \Q$name\E \*/} } 1 .. @source }

my $rounds = 20_000;

sub sharing
{
	my ($file, @command) = @_;
	my $run = run(command => [cli(), 'sharing', '-m', 'zen4', '-o', "stderr,$file", @command]);
	is(status_text($run->{status}), 'exit 0', "@command[1 .. $#command]: runs") or diag($run->{err});
	return {report => decode_json(read_file($file)), text => $run->{err} =~ s/\s+/ /gr, file => $file};
}

# The line with that data.
sub line_of { my ($run, $data) = @_; return (grep { $_->{data} =~ /$data/ } @{$run->{report}{lines}})[0] }

sub spelt { return join(' ', map { ($_->{writes} ? 'w' : 'r') . " $_->{function} " . ($_->{file} =~ s{.*/}{}r) . ":$_->{line}" } @{$_[0]{places}}) }

# ---- each has its own ----

my @cases = (['queue::ends', 'false', 'push', 'pop'], ['queue::queue', 'true', 'put', 'take'], ['queue::constant', 'true', 'tell', 'ask'],
	['queue::far', 'false', 'wipe', 'stream']);
my @files;
for my $which (0 .. $#cases) {
	my ($data, $kind, @functions) = @{$cases[$which]};
	my $run = sharing(scratch("$which.json"), $program, $which, $rounds);
	push(@files, $run->{file});
	my $line = line_of($run, "^$data\\b");
	is($line->{sharing}, $kind, "$data: $kind sharing");
	my %place = map { ($_->{places}[0]{function} // '') => $_ } @{$line->{threads}};
	is(join(' ', sort keys %place), join(' ', sort @functions), "$data: each thread in its function");
	for my $function (@functions) {
		my $thread = $place{$function} or next;
		my %expected = map { $_ => 1 } lines_of($function);
		my @places = @{$thread->{places}};
		is((grep { $_->{function} ne $function || $_->{file} !~ m{/queue\.c$} || !$expected{$_->{line}} } @places), 0, "$function: all in its lines") or diag(spelt($thread));
		is($places[0]{writes} ? 'writes' : 'reads', $function eq 'ask' ? 'reads' : 'writes', "$function: what it does there");
		is(scalar(@places), scalar(keys %expected), "$function: each of its lines once") or diag(spelt($thread));
		my $does = $function eq 'ask' ? 'reads' : 'writes';
		like($run->{text}, qr/thread $thread->{tid} $does in $function \(queue\.c:(?:@{[join('|', keys %expected)]})\)/, "$function: the finding says so, of its thread");
	}
}
my $verbose = run(command => [cli(), 'sharing', '-m', 'zen4', '-v', '-o', '-', $program, 0, $rounds])->{out};
for my $function ('push', 'pop') {
	my ($at) = lines_of($function);
	like($verbose, qr/^    writes in $function \(queue\.c:$at\)$/m, "-v: a line of $function");
}

# ---- more than there is room for ----

my $many = sharing(scratch('many.json'), $program, 4, $rounds);
push(@files, $many->{file});
for my $thread (@{line_of($many, '^queue::many\\b')->{threads}}) {
	is((grep { !$_->{writes} || $_->{function} ne 'fill' } @{$thread->{places}}), 0, 'many: none that reads') or diag(spelt($thread));
	cmp_ok(scalar @{$thread->{places}}, '>=', 3, 'many: as many as there is room for');
}
like($many->{text}, qr/contended-line: queue::many .*?; thread \d+ writes in fill \(own\.c:\d+\), thread \d+ (?:there, too|writes in fill \(own\.c:\d+\))\./, 'many: the finding is about the program itself');

# ---- without symbols ----

my $bare = sharing(scratch('bare.json'), $stripped, 0, $rounds);
push(@files, $bare->{file});
my ($line) = grep { $_->{sharing} eq 'false' } @{$bare->{report}{lines}};
my @places = map { $_->{places}[0] } @{$line->{threads}};
is(join(' ', map { "$_->{function}|$_->{file}|$_->{line}" } @places), '||0 ||0', 'stripped: no function, no line');
isnt($places[0]{address}, $places[1]{address}, 'stripped: two addresses');
is((grep { $_->{module} !~ m{/bare$} } @places), 0, 'stripped: the module');
my $plain = run(command => [cli(), 'sharing', '-m', 'zen4', '-v', '-o', '-', $stripped, 0, $rounds])->{out};
is(scalar(() = $plain =~ /^    writes in bare\+0x[0-9a-f]+ \[no symbol\]/mg), 2, 'stripped: said of both');
unlike($plain, qr/queue\.c/, 'stripped: no line');

# ---- the first thread is through before the other one begins ----

my $short = sharing(scratch('short.json'), $program, 0, 150);
is(join(' | ', sort map { spelt($_) } @{line_of($short, '^queue::ends')->{threads}}),
	join(' | ', map { "w $_ queue.c:" . join(' ', lines_of($_)) } 'pop', 'push'), 'few rounds: where both were');

my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-sharing-1.schema.json', @files]);
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    jsonschema.validate(json.load(open(name)), schema)
END
is(status_text($check->{status}), 'exit 0', 'JSON: as the schema says') or diag($check->{err});

done_testing();
