#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek sharing of a Java program: what the JVM counts for itself in data that all
# threads share is named, and stands behind what the program shares.  The JVM is a library
# of its name that maps its memory by functions of its names.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

plan(skip_all => why_not('sim')) if why_not('sim');

my $jvm = write_file(scratch('jvm.cpp'), <<'CPP');
#include <sys/mman.h>
#include <stddef.h>
static char *map(size_t size)
{
	return (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
namespace os {
__attribute__((noinline)) char *pd_commit_memory(char *at, size_t size, bool) { return map(size) + (at - at); }
__attribute__((noinline)) char *pd_commit_memory_or_exit(char *at, size_t size, size_t, bool, const char *) { return map(size) + (at - at); }
}
extern "C" char *jvm_own() { char *p = os::pd_commit_memory(nullptr, 65536, false); __asm__ volatile(""); return p; }
extern "C" char *jvm_heap() { char *p = os::pd_commit_memory_or_exit(nullptr, 1 << 20, 4096, false, ""); __asm__ volatile(""); return p; }
CPP
my $main = write_file(scratch('java.c'), <<'C');
#include <pthread.h>
char *jvm_own(void), *jvm_heap(void);
static volatile long *counted, *total;
static pthread_barrier_t both;
static void *work(void *unused)
{
	pthread_barrier_wait(&both);
	for (int i = 0; i < 20000; i++) {
		for (int k = 0; k < 4; k++)
			(*counted)++;
		(*total)++;
	}
	return unused;
}
int main(void)
{
	pthread_t one, other;
	counted = (volatile long *)(jvm_own() + 4096);
	total = (volatile long *)(jvm_heap() + 4096);
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&one, 0, work, 0);
	pthread_create(&other, 0, work, 0);
	pthread_join(one, 0);
	return pthread_join(other, 0);
}
C

sub findings_with
{
	my ($name) = @_;
	my ($library, $program, $json) = (scratch($name), scratch("with-$name"), scratch("$name.json"));
	is(run(command => ['c++', '-g', '-O1', '-fPIC', '-shared', '-o', $library, $jvm])->{status}, 0, "$name: built");
	is(run(command => ['cc', '-g', '-O1', '-pthread', '-o', $program, $main, $library])->{status}, 0, "$name: its program, too");
	my $run = run(command => [cli(), 'sharing', '-m', 'zen4', '-o', "stderr,$json", $program]);
	is(status_text($run->{status}), 'exit 0', "$name: runs") or diag($run->{err});
	return (decode_json(read_file($json))->{findings}, $run->{err});
}

my ($findings, $text) = findings_with('libjvm.so');
is_deeply([map { "$_->{rule}: " . $_->{data} =~ s{ \(jvm.*}{}r } @$findings],
	['contended-line: Mapped: Java heap (libjvm.so), 1048576 B',
		"contended-line: Mapped: the JVM's own counters, classes, code (libjvm.so), 65536 B"], 'the data of the program leads');
like($findings->[0]{advice}, qr/^Hand over less often/, 'what to do about it');
like($findings->[1]{advice}, qr/^It is the runtime's own, .* nothing in the program is to be changed/, 'and that nothing is to be done about the other');
like($text, qr/^data .*\n(?:Mapped: Java heap .* true .*\n)/m, 'its row leads, too');
my ($own, $heap) = map { my $data = $_; (map { $_->{evidence} =~ /up to ([\d,]+) transfers/ && $1 =~ s/,//gr } grep { $_->{data} =~ $data } @$findings)[0] } qr/own/, qr/heap/;
cmp_ok($own, '>', 3 * $heap, 'though it has fewer transfers');

# In a library of another name the same functions are nobody's.
($findings) = findings_with('libother.so');
like($findings->[0]{data}, qr/^Mapped: libother\.so::os::pd_commit_memory\(char\*, unsigned long, bool\), 65536 B/, 'another library: by its name, and the busiest first');
done_testing();
