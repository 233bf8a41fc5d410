#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Cases of tests and benchmarks as regions, whose compilers take long: Catch2, Rust's tests,
# Go's tests and benchmarks, markers of Java.  (Others: tests/e2e/cases.t, tests/e2e/pytest.t,
# tests/suites/criterion.t.)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my $work = scratch('cases');
mkdir($work);
my @engines = (['sim', 'instructions'], `uname -m` =~ /^x86_64/ && can_count('software') ? ['perf', 'perf::PAGE-FAULTS'] : ());

sub calls
{
	my ($engine, $regions, @command) = @_;
	my $run = peek(engine => $engine->[0], events => $engine->[1], command => \@command, cwd => $work,
		env => {$regions ? (CACHEPEEK_REGIONS => $regions) : ()});
	return ({map { join(' > ', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$run->{report}{regions}}}, $run);
}

SKIP: {
	skip('no Catch2 (catch2)', 2) unless -e '/usr/include/catch2/catch.hpp';
	write_file("$work/catch.cc", <<'CC');
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
static volatile char memory[64 * 20000];
static void touch(long n) { for (long i = 0; i < n; i++) (void)memory[64 * i]; }
TEST_CASE("few", "[lines]") { touch(1000); REQUIRE(1 == 1); }
TEST_CASE("many lines, in sections") {
	SECTION("one") { touch(20000); CHECK(true); }
	SECTION("other") { touch(5000); CHECK(true); }
}
TEST_CASE("fails") { REQUIRE(1 == 2); }
CC
	my $built = run(command => ['g++', '-o', "$work/catch", "$work/catch.cc"]);
	is(status_text($built->{status}), 'exit 0', 'Catch2: built') or diag($built->{err});
	is_deeply((calls($_, 'case:*', "$work/catch"))[0], {few => 1, 'many lines, in sections' => 2, fails => 1},
		"$_->[0]: each case of Catch2, by its name, and once for each section") for @engines;
}

SKIP: {
	my $rustc = which('rustc') or skip('no rustc', 2);
	write_file("$work/sums.rs", <<'RUST');
pub fn sum(n: u64) -> u64 { (0..n).map(|i| i ^ 1).sum() }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn few() { assert!(sum(10) > 0); }
    #[test]
    fn many_of_them() { assert!(sum(20000) > 0); }
    #[test]
    #[should_panic]
    fn panics() { panic!("as it should"); }
}
RUST
	my $built = run(command => [$rustc, '--test', '-g', '-o', "$work/sums", "$work/sums.rs"]);
	is(status_text($built->{status}), 'exit 0', 'Rust: built') or diag($built->{err});
	is_deeply((calls($_, 'func:*::tests::*={name},!func:*closure*', "$work/sums"))[0],
		{map { ("sums::tests::$_" => 1) } qw(few many_of_them panics)}, "$_->[0]: each test of Rust, by its name") for @engines;
}

SKIP: {
	my $go = which('go') or skip('no go', 3);
	my $place = "$work/go";
	mkdir($_) for $place, "$place/cachepeek";
	write_file("$place/cachepeek/cachepeek.go", read_file(source() . '/regions/cachepeek.go'));
	write_file("$place/go.mod", "module example\n");
	write_file("$place/some_test.go", <<'GO');
package example

import (
	"example/cachepeek"
	"testing"
)

var sum int

func BenchmarkSums(b *testing.B) {
	for _, n := range []int{10, 20000} {
		b.Run(map[int]string{10: "few", 20000: "many"}[n], func(b *testing.B) {
			cachepeek.Region(b.Name(), func() {
				for i := 0; i < b.N; i++ {
					for j := 0; j < n; j++ {
						sum += j
					}
				}
			})
		})
	}
}

func TestOne(t *testing.T) { cachepeek.Region(t.Name(), func() { sum++ }) }
GO
	my $built = run(command => [$go, 'test', '-c', '-o', 'go.test', '.'], cwd => $place, env => {GOPROXY => 'off', GOFLAGS => '-mod=mod',
		CGO_ENABLED => 1, CGO_CFLAGS => '-I' . source() . '/regions', GOCACHE => "$place/.cache", HOME => $place});
	is(status_text($built->{status}), 'exit 0', 'Go: built') or diag($built->{err});
	my $json = "$work/go.json";
	my $run = run(command => [cli(), '-E', 'sim', '-e', 'instructions', '-o', $json, './go.test', '-test.bench', '.', '-test.benchtime', '3x'],
		cwd => $place);
	is(status_text($run->{status}), 'exit 0', 'Go: its tests and benchmarks run') or diag($run->{err});
	my %calls = map { join(' > ', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} }
		@{Json::decode_json(read_file($json) || '{"regions": []}')->{regions}};
	is_deeply(\%calls, {TestOne => 1, 'BenchmarkSums/few' => 2, 'BenchmarkSums/many' => 2}, 'each, by its name; benchmarks once more with an N of 1');
}
# Markers of Java, as benchmarks of JMH have them: on each thread.
SKIP: {
	my ($javac, $jna) = (which('javac'), '/usr/share/java/jna.jar');
	skip('no javac, or no JNA (libjna-java)', 2) unless $javac && -e $jna;
	my $place = "$work/java";
	mkdir($place);
	write_file("$place/Cachepeek.java", read_file(source() . '/regions/Cachepeek.java'));
	write_file("$place/Work.java", <<'JAVA');
public class Work {
    static long sum(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += i ^ n; return sum; }
    public static void main(String[] arguments) throws Exception {
        long[] sums = new long[3];
        Thread[] threads = new Thread[3];
        for (int i = 0; i < 3; i++) {
            int n = i;
            threads[i] = new Thread(() -> {
                String name = "sum/" + n + " \u00b5";
                for (int round = 0; round <= n; round++) {
                    Cachepeek.begin(name);
                    try { sums[n] += sum(1000); } finally { Cachepeek.end(name); }
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println(sums[0] + " " + sums[2]);
    }
}
JAVA
	my @class_path = ('-cp', "$jna:.");
	my $built = run(command => [$javac, @class_path, 'Cachepeek.java', 'Work.java'], cwd => $place);
	is(status_text($built->{status}), 'exit 0', 'Java: built') or diag($built->{err});
	my @java = ('java', @class_path, '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', "-Djava.io.tmpdir=$place", 'Work');
	my $alone = run(command => \@java, cwd => $place);
	# On the simulated PMU a virtual machine takes a minute, and these calls are the same.
	my $json = "$place/java.json";
	my $engine = $engines[-1];
	my $run = run(command => [cli(), '-E', $engine->[0], '-e', $engine->[1], '-o', $json, @java], cwd => $place);
	is($run->{out}, $alone->{out} || 'none', 'Java: what it prints') or diag($run->{err});
	my %calls = map { $_->{path}[0] => $_->{calls} } grep { @{$_->{path}} } @{Json::decode_json(read_file($json) || '{"regions": []}')->{regions}};
	is_deeply(\%calls, {map { ("sum/$_ \x{b5}" => $_ + 1) } 0 .. 2}, "$engine->[0]: regions of Java, on each thread");
}
done_testing();
