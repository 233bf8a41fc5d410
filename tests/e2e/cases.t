#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_REGIONS=case:*: each case of unmodified tests and benchmarks is a region of its
# own name, on both engines; and func:PATTERN={...}, of which that is made.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my @engines = (['sim', 'l1d_loads'], `uname -m` =~ /^x86_64/ && can_count('software') ? ['perf', 'perf::PAGE-FAULTS'] : ());
my ($cc, $cxx) = map { (split(' ', $ENV{$_->[0]} || $_->[1]))[0] } ['CC', 'gcc'], ['CXX', 'g++'];
my $work = scratch('cases');
mkdir($work);

# A program, or undef where the library is not.
sub built
{
	my ($file, $header, $text, $compiler, @more) = @_;
	return if $header && !-e "/usr/include/$header";
	my ($name) = $file =~ /^(\w+)/;
	my $run = run(command => [$compiler, '-O2', '-o', "$work/$name", write_file("$work/$file", $text), @more]);
	is(status_text($run->{status}), 'exit 0', "$name: built") or diag($run->{err});
	return "$work/$name";
}

sub regions_of
{
	my ($engine, $regions, @command) = @_;
	return peek(engine => $engine->[0], events => $engine->[1], command => \@command, env => {CACHEPEEK_REGIONS => $regions});
}
sub calls { my ($run) = @_; return {map { join(' > ', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$run->{report}{regions}}} }

# ---- Google Benchmark ----

my $benchmark = built('benchmark.cc', 'benchmark/benchmark.h', <<'CC', $cxx, '-lbenchmark', '-pthread');
#include <benchmark/benchmark.h>
static volatile char memory[64 * 20000];
static void BM_lines(benchmark::State &state)
{
	long n = state.range(0);
	for (auto _ : state)
		for (long i = 0; i < n; i++)
			(void)memory[64 * i];
}
BENCHMARK(BM_lines)->Arg(1)->Arg(1000)->Arg(20000)->Iterations(3); /* the first finds functions of the library */
template<class T> static void BM_typed(benchmark::State &state) { for (auto _ : state) memory[sizeof(T)] = 1; }
BENCHMARK_TEMPLATE(BM_typed, int)->Iterations(1);
static void BM_threads(benchmark::State &state) { for (auto _ : state) memory[state.thread_index()] = 1; }
BENCHMARK(BM_threads)->Threads(2)->Iterations(1);
struct Fixed : benchmark::Fixture { void SetUp(benchmark::State &) { memory[1] = 2; } };
BENCHMARK_DEFINE_F(Fixed, writes)(benchmark::State &state) { for (auto _ : state) memory[state.range(1)] = 1; }
BENCHMARK_REGISTER_F(Fixed, writes)->Args({5, 7})->Iterations(1);
int main(int argc, char **argv)
{
	benchmark::RegisterBenchmark("a lambda", [](benchmark::State &state) { for (auto _ : state) memory[0] = 1; })->Iterations(1);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
}
CC
SKIP: {
	skip('no Google Benchmark (libbenchmark-dev)', 5) unless $benchmark;
	for my $engine (@engines) {
		my $run = regions_of($engine, 'case:*', $benchmark);
		is_deeply(calls($run), {'BM_lines/1' => 1, 'BM_lines/1000' => 1, 'BM_lines/20000' => 1, 'BM_typed<int>' => 1, BM_threads => 2,
			'Fixed/writes/5/7' => 1, 'a lambda' => 1}, "$engine->[0]: each benchmark, by its name");
		is_deeply([grep { /REGIONS/ } @{$run->{report}{warnings}}], [], 'nothing is missed');
		next if $engine->[0] ne 'sim';
		my ($few, $many) = map { value(region($run->{report}, "BM_lines/$_"), 'l1d_loads') } 1000, 20000;
		is($many - $few, 3 * 19000, 'and its own counts') or diag(explain(calls($run)));
	}
}

# ---- GoogleTest ----

my $tests = built('tests.cc', 'gtest/gtest.h', <<'CC', $cxx, '-lgtest', '-lgtest_main', '-pthread');
#include <gtest/gtest.h>
static volatile char memory[64 * 20000];
static void touch(long n) { for (long i = 0; i < n; i++) (void)memory[64 * i]; }
TEST(Lines, Few) { touch(1000); }
TEST(Lines, ManyOfThemInATestWhoseNameIsLong) { touch(20000); }
TEST(Ends, ByAFailure) { ASSERT_EQ(1, 2); }
TEST(Ends, ByAnException) { throw 1; }
class Given : public testing::TestWithParam<int> { };
TEST_P(Given, Touches) { touch(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Given, testing::Values(100, 3000));
CC
SKIP: {
	skip('no GoogleTest (libgtest-dev)', 4) unless $tests;
	my $alone = run(command => [$tests, '--gtest_print_time=0']);
	for my $engine (@engines) {
		my $run = regions_of($engine, 'case:googletest', $tests, '--gtest_print_time=0');
		is_deeply(calls($run), {map { $_ => 1 } qw(Lines.Few Lines.ManyOfThemInATestWhoseNameIsLong Ends.ByAFailure
			Ends.ByAnException All/Given.Touches/0 All/Given.Touches/1)}, "$engine->[0]: each test, by its name");
		is("$run->{status} $run->{out}", "$alone->{status} $alone->{out}", 'which end as they do alone');
	}
}

# ---- names of regions that a program makes ----

my $named = built('named.c', undef, <<'C', $cc);
#include <stddef.h>
struct thing { long number; const char *name; };
static volatile long sum;
__attribute__((noipa)) long work(const char *text, long n, const struct thing *thing)
{
	sum += n + (thing != NULL) + (text != NULL);
	return sum;
}
int main(void)
{
	struct thing one = {-7, "one"};
	work("first", 1, &one);
	work("second", 2, &one);
	work("second", 2, &one);
	work((const char *)8, 3, NULL);
	return 0;
}
C
for my $engine (@engines) {
	for (['{name}:{arg1}', {'work:first' => 1, 'work:second' => 2, work => 1}],
		['{arg2:long}', {1 => 1, 2 => 2, 3 => 1}],
		['{arg3+8} is {arg3:long}', undef],
		['{arg3+8:string} {arg3+0:long}', {'one -7' => 3, work => 1}],
		['{arg3:std::string}', {work => 4}]) {
		my ($naming, $expected) = @$_;
		my $run = regions_of($engine, "func:work=$naming", $named);
		is(scalar(keys %{calls($run)}), 2, "$engine->[0]: $naming"), next unless $expected;
		is_deeply(calls($run), $expected, "$engine->[0]: $naming") or diag(explain(calls($run)));
	}
}
my $based = built('based.cc', undef, <<'CC', $cxx);
namespace far {
struct thing { long number; };
template<class T> struct box { __attribute__((noinline, noclone)) static long work(const T &of) { return of.number + 1; } };
}
int main() { volatile long sum = 0; far::thing one = {1}; sum += far::box<far::thing>::work(one); return sum != 2; }
CC
for my $case (['{name}', 'far::box<far::thing>::work'], ['{base}', 'work'], ['{base} of {arg1:long}'], ['{arg1+0:long}-{base}', '1-work']) {
	my ($naming, $expected) = @$case;
	my ($called) = keys %{calls(regions_of($engines[0], "func:far::box*::work=$naming", $based))};
	is($called, $expected, "$naming of a function in a namespace") if $expected;
	like($called, qr/^work of -?\d+$/, $naming) unless $expected;
}
for my $wrong ('{arg5}', '{arg1:text}', '{arg1', '{arg1+x}') {
	my $run = regions_of($engines[0], "func:work=$wrong", $named);
	like("@{$run->{notes}}", qr/CACHEPEEK_REGIONS: =\Q$wrong\E is ignored.*expected \{name\}/, "$wrong is refused in one line");
	is_deeply(calls($run), {work => 4}, 'and the function has its own name');
}

# ---- what is not there ----

for my $engine (@engines) {
	my $run = regions_of($engine, 'case:catch2', $named);
	is_deeply([grep { /REGIONS/ } @{$run->{report}{warnings}}], ['CACHEPEEK_REGIONS=case:catch2: no function of such a framework ' .
		'has a name in the program or its libraries; was it stripped?'], "$engine->[0]: a program without cases");
}
my $run = regions_of($engines[0], 'case:nosuch', $named);
like("@{$run->{notes}}", qr/case:nosuch is ignored: expected case:\*, case:googlebenchmark/, 'a framework that nobody knows');
done_testing();
