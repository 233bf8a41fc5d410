#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Benchmarks of Criterion.rs as regions, each by its name: Criterion itself is compiled, which
# takes three minutes of CPU.  (Other frameworks: tests/e2e/cases.t, tests/real/cases.t.)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my $work = scratch('criterion');
my @engines = (['sim', 'instructions'], `uname -m` =~ /^x86_64/ && can_count('software') ? ['perf', 'perf::PAGE-FAULTS'] : ());

# Criterion as Debian packages it, of /usr/share/cargo/registry; nothing is fetched.
my ($cargo, $rustc, $crates) = ('/usr/bin/cargo', '/usr/bin/rustc', '/usr/share/cargo/registry');
plan(skip_all => 'no Criterion (cargo, librust-criterion-dev)') unless -x $cargo && -x $rustc && glob("$crates/criterion-0.3.*");
my $place = "$work/project";
mkdir($_) for $work, $place, map { "$place/$_" } qw(.cargo src benches benches/cachepeek);
write_file("$place/benches/cachepeek/$_", read_file(source() . "/regions/$_")) for qw(cachepeek.rs cachepeek_criterion.rs);
write_file("$place/.cargo/config.toml", qq([source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "$crates"\n));
write_file("$place/Cargo.toml", <<'TOML');
[package]
name = "sums"
version = "0.0.0"
edition = "2018"
[dev-dependencies]
criterion = { version = "0.3", default-features = false, features = ["cargo_bench_support"] }
[[bench]]
name = "sums"
harness = false
[profile.bench]
opt-level = 0
debug = 0
codegen-units = 1
TOML
write_file("$place/src/lib.rs", 'pub fn sum(n: u64) -> u64 { (0..n).map(|i| i ^ n).fold(0, |a, b| a ^ b) }');
write_file("$place/benches/sums.rs", <<'RUST');
use criterion::{criterion_group, criterion_main, BatchSize, BenchmarkId, Criterion};
use sums::sum;

#[path = "cachepeek/cachepeek_criterion.rs"]
mod cachepeek_criterion;

fn bench(c: &mut Criterion) {
    c.bench_function("few", |b| b.iter(|| cachepeek_criterion::cachepeek::region("inside", || sum(10))));
    let mut group = c.benchmark_group("many");
    group.bench_with_input(BenchmarkId::new("sum", 20000), &20000, |b, n| b.iter(|| sum(*n)));
    group.bench_function("batched", |b| b.iter_batched(|| 3000, sum, BatchSize::SmallInput));
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_profiler(cachepeek_criterion::Regions);
    targets = bench
}
criterion_main!(benches);
RUST
my $built = run(command => [$cargo, 'bench', '--offline', '--quiet', '--no-run', '--bench', 'sums'], cwd => $place,
	env => {RUSTC => $rustc, CARGO_HOME => "$place/home", CARGO_TARGET_DIR => "$place/target", RUSTFLAGS => undef});
is(status_text($built->{status}), 'exit 0', 'Criterion: built') or diag($built->{err});
my ($bench) = grep { -x && !/\./ } glob("$place/target/release/deps/sums-*");
for my $engine (@engines) {
	my $run = peek(engine => $engine->[0], events => $engine->[1], command => [$bench // 'false', '--bench', '--profile-time', '1'],
		cwd => $work, env => {CACHEPEEK_REGIONS => '*,case:criterion'});
	my $calls = {map { join(' > ', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$run->{report}{regions}}};
	my %loops = map { $_ => delete($calls->{"$_ > iter"}) // delete($calls->{"$_ > iter_batched"}) } qw(few many/sum/20000 many/batched);
	my $inside = delete($calls->{'few > iter > inside'}) // 0;
	is_deeply($calls, {map { $_ => 1 } keys %loops}, "$engine->[0]: each benchmark of Criterion, by its name") or diag($run->{err});
	is_deeply([grep { !($loops{$_} // 0) } sort keys %loops], [], 'and the loops that it measures in each');
	is($inside, 2 ** ($loops{few} // 0) - 1, 'of which each is twice as long as the one before');
}
done_testing();
