#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Where findings are: at the program's own line, though a library's code was inlined into
# it, and nowhere in code that no program can change.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(shuffle);
use Peek;
use Test::More;

sub outcome
{
	my ($command, $machine, @rest) = @_;
	my $json = scratch('report.json');
	unlink($json);
	my $run = run(command => [cli(), $command, '-m', $machine, '-o', $json, @rest]);
	my $report = eval { decode_json(read_file($json) // '') };
	diag($run->{err}) unless $report;
	return $report;
}

sub explained { return run(command => [cli(), 'explain', scratch('report.json')])->{out} }

sub compile
{
	my ($file, @command) = @_;
	system(@command, '-o', scratch($file)) == 0 or die "@command";
	return scratch($file);
}

# ---- inlined from a library: the line that calls it ----

mkdir(scratch($_)) for qw(library own);
write_file(scratch('library/table.h'), <<'CXX');
#include <cstddef>
namespace library {
template <class T> struct table {
	T *data;
	size_t columns;
	const T &
	at(size_t row, size_t column) const
	{
		return data[row * columns + column];
	}
};
template <class T, class Add> inline T
over(size_t n, Add add)
{
	T sum{};
	for (size_t i = 0; i < n; i++)
		sum += add(i);
	return sum;
}
}
CXX
write_file(scratch('own/sums.cc'), <<'CXX');
#include "table.h"
#include <cstdio>
static double cells[2000 * 700];
namespace own {
struct sums {
	library::table<double> of;
	double column(size_t at) const
	{
		return library::over<double>(2000, [&](size_t row) {
			return of.at(row, at);
		});
	}
};
}
int main()
{
	own::sums sums{{cells, 700}};
	double all = 0;
	for (size_t i = 0; i < 100; i++)
		all += sums.column(i);
	printf("%g\n", all);
}
CXX
my $sums = compile('sums', 'c++', '-O2', '-g', '-fno-tree-vectorize', '-I', scratch('library'), scratch('own/sums.cc'));
my ($found) = grep { $_->{rule} =~ /stride|set-conflicts/ } @{outcome('dcache', 'skylake-sp', $sums)->{findings}};
is_deeply([map { s{.*/}{}r } $found->{file} // '', $found->{caller}{file} // ''], ['table.h', 'sums.cc'],
	"a library's code: the line is its own, the caller's the program's");
like($found->{caller}{line} // '', qr/\A(9|10)\z/, '... where it calls it');
like(explained(), qr/ \(sums\.cc:(9|10), inlined table\.h:\d+\)/, '... and explain says so');
chdir(scratch('own')) or die;
my ($there) = grep { $_->{rule} =~ /stride|set-conflicts/ }
	@{outcome('dcache', 'skylake-sp', compile('here', 'c++', '-O2', '-g', '-fno-tree-vectorize', '-iquote', '../library', 'sums.cc'))->{findings}};
like($there->{caller}{line} // '', qr/\A(9|10)\z/, 'compiled in its folder, too');
chdir('..') or die;
my ($own) = grep { $_->{rule} =~ /stride|set-conflicts/ }
	@{outcome('dcache', 'skylake-sp', compile('all', 'c++', '-O2', '-g', '-fno-tree-vectorize', '-iquote', 'library', 'own/sums.cc'))->{findings}};
ok($own, 'a header beside the sources') and is($own->{caller}, undef, '... is the program\'s own');

SKIP: {
	my $rustc = which('rustc') or skip('no rustc', 2);
	write_file(scratch('own/column.rs'), <<'RUST');
struct Table { cells: Vec<f64>, columns: usize }
impl Table {
    fn sum(&self, column: usize) -> f64 {
        (0..self.cells.len() / self.columns)
            .map(|row| self.cells[row * self.columns + column])
            .sum()
    }
}
fn main() {
    let table = Table { cells: vec![1.0; 2000 * 700], columns: 700 };
    let all: f64 = (0..100).map(|column| table.sum(column)).sum();
    println!("{}", all);
}
RUST
	chdir(scratch('own')) or die;
	my $column = compile('column', $rustc, '-O', '-g', 'column.rs');
	chdir('/') or die;
	my ($of) = grep { $_->{rule} =~ /stride|set-conflicts/ } @{outcome('dcache', 'skylake-sp', $column)->{findings}};
	my @lines = $of->{caller} ? ($of->{caller}{file}, $of->{caller}{line}) : ($of->{file} // '', $of->{line});
	like($lines[0], qr{/column\.rs\z}, 'Rust: in a file of the program');
	cmp_ok(abs($lines[1] - 5), '<=', 1, '... where it adds up');
}

# ---- code without names: what would give it some is said before what is found there ----

SKIP: {
	skip('the code is of x86-64', 1) unless `uname -m` =~ /x86_64/;
	write_file(scratch('made.c'), <<'C');
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
static char data[1 << 20];
/* Loads a word of each line of [rdi, rsi). */
static const unsigned char code[] = {0x48, 0x8b, 0x07, 0x48, 0x83, 0xc7, 0x40, 0x48, 0x39, 0xf7, 0x72, 0xf4, 0xc3};
int main(void)
{
	void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(at, code, sizeof(code));
	((void (*)(char *, char *))at)(data, data + sizeof(data));
	return 0;
}
C
	my $out = run(command => [cli(), 'dcache', '-m', bare('skylake-sp'), compile('made', 'cc', '-O1', '-g', scratch('made.c'))])->{err};
	like($out, qr/^names +\d+ % of the misses are in code that was made at run time.*^Findings/ms, 'code without names: said first');

	# As a compiler that makes better code of a method when it runs often: two pieces of one name.
	write_file(scratch('twice.c'), <<'C');
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char data[32 << 20];
static char *table[40000];
/* Loads a word of each object that [rdi, rsi) points to. */
static const unsigned char code[] = {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x08, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x39, 0xf7, 0x72, 0xf1, 0xc3};
int main(void)
{
	char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[64];
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(name, "w");
	for (int i = 0; i < 2; i++) {
		memcpy(at + 64 * i, code, sizeof(code));
		fprintf(map, "%lx %x walk(List)\n", (unsigned long)(at + 64 * i), 64);
	}
	fclose(map);
	for (unsigned i = 0, x = 1; i < 40000; i++, x = x * 1664525 + 1013904223)
		table[i] = data + x / 64 % (sizeof(data) / 64) * 64;
	for (int i = 0; i < 6; i++)
		((void (*)(char **, char **))(at + 64 * (i & 1)))(table, table + 40000);
	return 0;
}
C
	my $twice = outcome('dcache', bare('skylake-sp'), compile('twice', 'cc', '-O1', '-g', scratch('twice.c')));
	unlink("/tmp/perf-$_->{pid}.map") for @{$twice->{threads}};
	is_deeply([map { "$_->{rule}: $_->{function}" } grep { $_->{function} } @{$twice->{findings}}], ['unprefetched: walk(List)'], 'a method that was compiled twice: one finding');
	like(join("\n", map { $_->{evidence} } @{$twice->{findings}}), qr/; and 1 more at this place/, '... which says so');
}

# ---- what nobody can mend ----

my @names = map { "one_function_of_many_in_a_library_number_$_" } 1 .. 9000;
write_file(scratch('many.c'), join('', map { "int $_(void) { return 1; }\n" } @names));
srand(1);
@names = shuffle(@names);
write_file(scratch('uses.c'), join('', map { "int $_(void);\n" } @names) .
	'int (*const table[])(void) = {' . join(', ', @names) . "};\nint main(int n, char **words) { return table[n]() != table[n](); }\n");
my $many = compile('libmany.so', 'cc', '-shared', '-fPIC', scratch('many.c'));
my $uses = compile('uses', 'cc', scratch('uses.c'), $many);
my $loading = outcome('dcache', 'neoverse-n2', $uses);
is_deeply([map { "$_->{rule}: $_->{function}$_->{data}" } @{$loading->{findings}}], [], 'the dynamic loader: no finding');
like($loading->{below_limit} // '', qr/finding.? in the dynamic loader, which takes less where fewer symbols/, '... but what makes it take less');

done_testing();
