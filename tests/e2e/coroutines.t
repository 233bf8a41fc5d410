#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Functions as regions where a program goes from stack to stack: calls belong to the stack
# that they were made on, whatever it is of and whatever changes it.  What cannot be told
# is said, and has no number.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub regions
{
	my ($functions, @command) = @_;
	return peek(engine => 'sim', events => 'l1d_misses', command => \@command,
		env => {CACHEPEEK_REGIONS => join(',', map { "func:$_" } @$functions)});
}

# PATH => calls
sub calls
{
	my ($in) = @_;
	return {map { join('/', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$in->{regions}}};
}

sub misses { value(region($_[0]{report}, @_[1 .. $#_]), 'l1d_misses') // 'no number' }

# ---- all kinds of stacks, in either order, and of switches ----

my @by_hand = `uname -m` =~ /x86_64/ ? qw(asm called) : ();
my @table = ((map { my $s = $_; map { [$s, 'ucontext', @$_] } [], ['swapped'] } qw(mapped malloc array frame)),
	(map { my $h = $_; map { ['array', $h, @$_] } [], ['swapped'] } qw(direct jumps threads handler thrown), @by_hand),
	['frame', 'direct'], ['malloc', 'jumps'], ['mapped', 'handler']);
my $untold = 'the program goes from stack to stack in a way that cannot be told from a jump to an outer function: '
	. 'functions and lines are not counted';

sub ok_untold
{
	my ($run, $what) = @_;
	is($run->{out}, "done\n", "$what: as alone");
	is_deeply($run->{report}{warnings}, [$untold], '... which the report has, too');
	is_deeply([grep { @{$_->{path}} && defined $_->{counts}{l1d_misses}{value} } @{$run->{report}{regions}}], [],
		'... and no function has a number');
}

# The misses of the switches themselves.
my %more = (handler => 100, thrown => 200);
for (@table) {
	my @way = @$_;
	my $run = regions([qw(alpha beta gamma_ main)], program('coroutines'), @way);
	is($run->{out}, "done\n", "@way: it ends as alone");
	is($run->{err}, '', '... without a word');
	is_deeply(calls($run->{report}), {main => 1, alpha => 1, 'alpha/gamma_' => 1, beta => 1},
		'... each call is where it was made, once') or diag(explain(calls($run->{report})));
	my %expected = (alpha => 2200, beta => 600, main => 5000);
	for my $name (sort keys %expected) {
		my $misses = misses($run, $name);
		my $most = $expected{$name} + ($name eq 'main' ? 500 : 40 + ($more{$way[1]} || 0));
		ok($misses =~ /^\d/ && $misses >= $expected{$name} && $misses <= $most,
			"... $name has the lines that it touches: $misses of $expected{$name}");
	}
	is_deeply([grep { $_->{path}[-1] && exists $expected{$_->{path}[-1]} && ($way[1] ne 'threads' || $_->{path}[-1] ne 'main')
		&& !grep { $_ eq 'parts' } @{$_->{flags}} } @{$run->{report}{regions}}], [], '... and says that it is of parts');
	ok_sums($run->{report}, "@way");
}

# Nobody says that there is a stack inside of main's frame, above all that is called.
ok_untold(regions([qw(alpha beta main)], program('coroutines'), 'frame', 'asm'), 'switched by hand, to a stack in a frame') if @by_hand;

{
	my $run = run(command => [cli(), '-E', 'sim', program('coroutines'), 'frame', 'asm'],
		env => {CACHEPEEK_REGIONS => 'func:alpha'});
	is(scalar(() = $run->{err} =~ /^cachepeek: \Q$untold\E$/mg), @by_hand ? 1 : 0, '... and it is said at once');
}

# ---- others' coroutines ----

SKIP: {
	my ($boost) = `ldconfig -p 2> /dev/null` =~ m{(/\S+/libboost_context\.so\S*)};
	skip 'no Boost.Context here', 3 unless $boost;
	my $source = write_file(scratch('boost.c'), <<'C');
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
struct transfer { void *from, *data; };
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*function)(struct transfer));
static volatile char *lines;
static void *others;
#define F __attribute__((noinline, noclone))
F static long touch(long from, long n) { long s = 0; for (long i = 0; i < n; i++) s += lines[(from + i) * 64]; return s; }
F static void yield(void) { others = jump_fcontext(others, NULL).from; }
F void alpha(void) { touch(0, 1000); yield(); touch(1000, 1000); __asm__ volatile(""); }
F void beta(void) { touch(100000, 300); yield(); touch(100300, 300); __asm__ volatile(""); }
static void run_alpha(struct transfer t) { others = t.from; alpha(); yield(); }
static void run_beta(struct transfer t) { others = t.from; beta(); yield(); }
int main(void)
{
	char *a = malloc(1 << 18), *b = malloc(1 << 18);
	lines = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	void *ca = make_fcontext(a + (1 << 18), 1 << 18, run_alpha), *cb = make_fcontext(b + (1 << 18), 1 << 18, run_beta);
	for (int i = 0; i < 2; i++) {
		ca = jump_fcontext(ca, NULL).from;
		cb = jump_fcontext(cb, NULL).from;
	}
	touch(200000, 5000);
	puts("done");
}
C
	my $program = scratch('boost');
	is(system('gcc', '-O1', '-o', $program, $source, $boost), 0, 'a program with Boost.Context');
	my $run = regions([qw(alpha beta)], $program);
	is_deeply(calls($run->{report}), {alpha => 1, beta => 1}, 'Boost.Context: each call, once');
	my @misses = (misses($run, 'alpha'), misses($run, 'beta'));
	ok($misses[0] >= 2000 && $misses[0] < 2040 && $misses[1] >= 600 && $misses[1] < 640, "... has its own lines: @misses");
}

SKIP: {
	my $name = 'rb_ary_each';
	skip 'no Ruby here', 3 unless which('ruby');
	# Every other fiber is in the midst of an Array's each when the next one goes on.
	my $fibers = <<'RUBY';
def all(fibers) = 40.times { fibers.each { |f| f.resume if f.alive? } }
all((0..19).map { |k| Fiber.new { [1, 2, 3].each { |v| (0..10 * k).each { |x| x * v }; Fiber.yield v } } }) if ARGV[0] == "waiting"
all((0..19).map { |k| Fiber.new { [1, 2, 3].each { |v| (0..10 * k).each { |x| x * v } }; Fiber.yield k } }) if ARGV[0] != "waiting"
puts "done"
RUBY
	my $script = write_file(scratch('fibers.rb'), $fibers);
	my %all;
	for my $way (qw(waiting at-once)) {
		my $run = regions([$name], which('ruby'), $script, $way);
		is($run->{out} . $run->{err}, "done\n", "Ruby's fibers, $way: as alone");
		$all{$way} += $_->{calls} for grep { @{$_->{path}} } @{$run->{report}{regions}};
	}
	is($all{waiting}, $all{'at-once'}, 'each call is one, whether its fiber waits in it or not');
}

# All of a greenlet's stack is copied to where the last one's was.
SKIP: {
	my ($python) = grep { system("$_ -c 'import greenlet' 2> /dev/null") == 0 } qw(/usr/bin/python3 python3);
	skip 'no greenlet here', 4 unless $python;
	my $script = write_file(scratch('greenlets.py'), <<'PY');
import greenlet
def run(n):
    for i in range(3):
        sorted([3, 1, 2], key=lambda v: (sum(range(n)), main.switch(), v)[2])
main = greenlet.getcurrent()
both = [greenlet.greenlet(run), greenlet.greenlet(run)]
for i in range(9):
    for g in both:
        if not g.dead:
            g.switch(100 * (i + 1))
print("done")
PY
	my $run = regions(['_PyEval_EvalFrameDefault'], $python, $script);
	ok_untold($run, 'greenlets');
}

done_testing;
