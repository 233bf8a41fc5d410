#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The names of C++'s data: operator new of all kinds, containers, and memory that is
# mapped, by the call.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $LINES = 4096;
my $text = <<'CC';
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <vector>
#define FUNCTION __attribute__((noipa))
static const long LINES = 4096, SIZE = LINES * 64;
FUNCTION static void write_lines(volatile char *at, long size)
{
	for (long i = 0; i < size; i += 64)
		at[i] = 1;
}
struct alignas(128) wide { char bytes[SIZE]; };
thread_local char own[SIZE];
static thread_local char hidden[SIZE / 2];
namespace deep { thread_local char inner[SIZE]; }
FUNCTION void *locals(void *)
{
	write_lines(own, SIZE);
	write_lines(hidden, SIZE / 2);
	write_lines(deep::inner, SIZE);
	return nullptr;
}
static char *map()
{
	return (char *)mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* map */
}
FUNCTION void mapped() { write_lines(map(), SIZE); }
FUNCTION void cut()
{
	char *at = (char *)mmap(nullptr, 3 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* cut */
	munmap(at + SIZE, SIZE);
	write_lines(at, SIZE);
	write_lines(at + 2 * SIZE, SIZE);
}
FUNCTION void plain() { write_lines(new char[SIZE], SIZE); /* plain */ }
FUNCTION void aligned() { write_lines((new wide)->bytes, SIZE); /* aligned */ }
FUNCTION void nothrow() { write_lines(new (std::nothrow) char[SIZE], SIZE); /* nothrow */ }
namespace deep { template<class T> struct holder { std::vector<T> values;
	FUNCTION void fill() { values.resize(SIZE / sizeof(T)); write_lines((char *)values.data(), SIZE); } }; }
FUNCTION void library() { write_lines((char *)std::aligned_alloc(64, SIZE), SIZE); /* library */ }
int main()
{
	mapped();
	cut();
	locals(nullptr);
	pthread_t threads[2];
	for (pthread_t &t : threads)
		pthread_create(&t, nullptr, locals, nullptr);
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
	plain();
	aligned();
	nothrow();
	library();
	deep::holder<long> *holder = new deep::holder<long>;
	holder->fill();
}
CC
my $source = write_file(scratch('data.cc'), $text);
my $program = scratch('data');
is(system('g++', '-std=c++17', '-O1', '-g', '-o', $program, $source, '-pthread'), 0, 'a program');
my $json = scratch('data.json');
my $run = run(command => [cli(), 'dcache', '-m', bare('skylake-sp'), '-o', $json, $program]);
is($run->{err}, '', 'its profile');
my $profile = decode_json(read_file($json));

sub line_with
{
	my ($comment) = @_;
	my ($before) = $text =~ m{\A(.*?)/\* \Q$comment\E \*/}s;
	return 1 + ($before =~ tr/\n//);
}
sub data_at
{
	my ($name, $comment) = @_;
	my ($found) = grep { $_->{name} =~ $name && (!$comment || $_->{line} == line_with($comment)) }
		@{$profile->{data}};
	return $found || {data => 'none', counts => {}};
}
sub ok_stores
{
	my ($object, $lines, $what) = @_;
	my $n = $object->{counts}{l1d_store_misses} // 0;
	ok($n >= $lines - 210 && $n <= $lines + 210, "$what: $n of $lines") or diag(explain($object));
}

ok_stores(data_at(qr/^Mapped: data::\S*mapped\S*, 262144 B$/, 'map'), $LINES, 'mmap, by its call');
is(data_at(qr/^Mapped: /, 'map')->{data}, 'mapping', 'as a mapping');
ok_stores(data_at(qr/^Mapped: data::cut\(\), 786432 B$/, 'cut'), 2 * $LINES, 'what is left of one that was cut');
ok_stores(data_at(qr/^Heap: data::plain\(\), /, 'plain'), $LINES, 'operator new');
ok_stores(data_at(qr/^Heap: data::aligned\(\), /, 'aligned'), $LINES, 'aligned');
ok_stores(data_at(qr/^Heap: data::nothrow\(\), /, 'nothrow'), $LINES, 'nothrow');
ok_stores(data_at(qr/^Heap: data::library\(\), /, 'library'), $LINES, 'aligned_alloc');
my %locals = map { $_->{name} => $_ } grep { $_->{data} eq 'thread-local' } @{$profile->{data}};
ok_stores($locals{'TLS data::own'}, 3 * $LINES, 'a thread-local variable, of three threads');
ok_stores($locals{'TLS data::hidden'}, 3 * $LINES / 2, 'a static one');
ok_stores($locals{'TLS data::deep::inner'}, 3 * $LINES, 'of C++');
is(($locals{'TLS data::hidden'} || {})->{size}, 32 * $LINES, 'its size');
# The vector's memory comes from the allocator of the standard library, inlined or not.
my ($vector) = grep { $_->{data} eq 'heap' && $_->{size} == 64 * $LINES &&
	$_->{name} =~ /holder<long>::fill|vector<long|allocator<long>/ } @{$profile->{data}};
cmp_ok(($vector || {counts => {}})->{counts}{l1d_store_misses} // 0, '>', 0.9 * $LINES / 2,
	'a container\'s, with the demangled name of who asked for it');

my %sum;
for my $object (@{$profile->{data}}) {
	$sum{$_} += $object->{counts}{$_} for qw(l1d_load_misses l1d_store_misses l2_store_misses);
}
is_deeply(\%sum, {map { $_ => $profile->{counts}{$_} } keys %sum}, 'data adds up to the counts');

# ---- what was missed last is gone: the heap has shrunk ----

{
	my $source = write_file(scratch('shrinks.c'), <<'C');
#include <stdlib.h>
struct node { struct node *next; char more[1000]; };
static struct node *all[4000];
static volatile long sum;
__attribute__((noinline)) static void walk(struct node *list)
{
	for (; list; list = list->next)
		sum += list->more[8];
}
int main(void)
{
	for (int round = 0; round < 4; round++) {
		int n = round % 2 ? 40 : 4000;
		for (int i = 0; i < n; i++) {
			all[i] = malloc(sizeof(**all));
			all[i]->next = i ? all[i - 1] : 0;
		}
		for (int i = n / 2; i < n; i++) /* the last one is the highest */
			walk(all[n - 1 - i]);
		walk(all[n - 1]);
		for (int i = n; i-- > 0;)
			free(all[i]);
	}
	return 0;
}
C
	is(system('cc', '-g', '-O1', '-o', scratch('shrinks'), $source), 0, 'a heap that shrinks');
	my $run = run(command => [cli(), 'dcache', '-m', 'cachegrind', '-o', scratch('shrinks.json'), scratch('shrinks')]);
	is(status_text($run->{status}) . $run->{err}, 'exit 0', 'and is not read where it was');
}

done_testing;
