# SPDX-License-Identifier: MIT
# Functions of a program without symbols have names where its symbols are in a file apart:
# beside it, or in the cache of debuginfod's clients.  A file of another build has none.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my %events = (sim => 'instructions', perf => 'page-faults');
# In the other build each of the two is where the other one was.
my $source = write_file(scratch('twice.c'), <<'C');
#define FUNCTION __attribute__((noinline, noclone, aligned(64)))
volatile int sink;
FUNCTION int FIRST(int n) { sink += n; sink *= 2; return sink - n; }
FUNCTION int SECOND(int n) { sink += n; sink *= 2; return sink - n - 1; }
int main(void) { once(1); for (int i = 0; i < 13; i++) twice(i); return 0; }
C
my ($program, $other) = map { compiled(@$_) } ['twice', qw(once twice)], ['other', qw(twice once)];
my $cache = scratch('home/.cache/debuginfod_client');
mkdir(scratch($_)) for qw(beside beside/.debug home home/.cache), 'home/.cache/debuginfod_client';

sub compiled
{
	my ($name, $first, $second) = @_;
	my $made = scratch($name);

	system($ENV{CC} || 'cc', qw(-O1 -g -fno-toplevel-reorder), '-Wl,--build-id', "-DFIRST=$first", "-DSECOND=$second", '-o', $made, $source) == 0
		or die "no compiler\n";
	return $made;
}

# How often "twice" was called; undef where no function has that name.
sub calls
{
	my ($engine, $command, %env) = @_;
	my $run = peek(engine => $engine, events => $events{$engine}, command => [$command],
		env => {CACHEPEEK_REGIONS => 'func:twice', %env});
	my ($region) = grep { "@{$_->{path}}" eq 'twice' } @{$run->{report}{regions}};

	return $region ? $region->{calls} : undef;
}

for my $engine (qw(sim perf)) {
	SKIP: {
		skip 'the kernel counts no page faults here', 9 if $engine eq 'perf' && !can_count('software');
		skip 'functions are patched on x86-64 only', 9 if $engine eq 'perf' && `uname -m` !~ /x86_64/;
		my $debug = scratch('beside/apart.debug');
		my ($apart, $id) = stripped($program, 'beside/apart', $debug);
		my $below = scratch('beside/.debug/apart.debug');
		my $fetched = "$cache/$id/debuginfo";

		is(calls($engine, $apart), 13, "$engine: a debug file beside the program");
		rename($debug, $below);
		is(calls($engine, $apart), 13, "$engine: or in .debug there");
		mkdir("$cache/$id");
		rename($below, $fetched);
		is(calls($engine, $apart), undef, "$engine: nowhere");
		my %home = (HOME => scratch('home'), XDG_CACHE_HOME => '');
		is(calls($engine, $apart, %home), 13, "$engine: in the cache in the home directory");
		is(calls($engine, $apart, XDG_CACHE_HOME => scratch('home/.cache')), 13, "$engine: in the user's cache");
		is(calls($engine, $apart, DEBUGINFOD_CACHE_PATH => $cache, XDG_CACHE_HOME => scratch('elsewhere')), 13, "$engine: in debuginfod's own");
		is(calls($engine, $apart, DEBUGINFOD_CACHE_PATH => '/' . 'x' x 5000), undef, "$engine: a path that is too long");
		system('objcopy', '--only-keep-debug', $other, $fetched);
		is(calls($engine, $apart, %home), undef, "$engine: a file of another build");
		write_file($fetched, "\x7fELF");
		is(calls($engine, $apart, %home), undef, "$engine: half a file");
		unlink($fetched);
	}
}

# ---- names of C++, by the command and by the library alone ----

my $cxx = write_file(scratch('names.cc'), <<'C');
volatile long sink;
template <class T> __attribute__((noinline)) T twice(T n) { sink += n; return n + sink; }
namespace a { __attribute__((noinline)) void twice(int n) { sink += n; } __attribute__((noinline)) void twice(long n, const char *) { sink -= n; } }
int main() { a::twice(1); a::twice(2, "b"); return twice(sink) == 5; }
C
is(system(qw(g++ -O1 -g -o), scratch('names'), $cxx), 0, 'names of C++');
for my $alone (0, 1) {
	my $json = scratch('names.json');
	my $run = run(command => [$alone ? () : cli(), scratch('names')], env => {CACHEPEEK_REGIONS => 'func:*twice*', CACHEPEEK_OUTPUT => $json,
		CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions', $alone ? (LD_PRELOAD => lib()) : ()});
	is_deeply([sort map { @{$_->{path}} } @{decode_json(read_file($json))->{regions}}],
		['a::twice(int)', 'a::twice(long, char const*)', 'twice<long>(long)'], ($alone ? 'the library' : 'the command') . ': as in the source');
}

done_testing();
