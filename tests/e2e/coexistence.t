#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Beside the program's own signal handlers, forks and allocator, and beside other
# preloaded libraries, in either order: nothing hangs, nobody is confused, and
# the counts are right.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX qw(uname);
use Test::More;

need_perf();
my $x86 = (uname())[4] eq 'x86_64';
my @engines = qw(perf sim);
my %events = (perf => $SOFTWARE, sim => 'instructions');

sub calls
{
	my ($report, @path) = @_;
	my $region = region($report, @path);
	return $region ? $region->{calls} : 0;
}

# ---- markers in signal handlers ----

sub ok_handler
{
	my ($how, $engine, %calls) = @_;
	my $what = "$engine: a marker in a handler ($how)";
	my $run = peek(engine => $engine, events => $events{$engine}, command => [program('coexist'), $how]);
	is(status_text($run->{status}), 'exit 0', "$what: runs to its end");
	is(notes($run), 0, "$what: nothing to say") or diag(@{$run->{notes}});
	my ($handled, $worked) = split(' ', $run->{out});
	ok($handled && $worked > 0, "$what: it worked") or diag($run->{out});
	my $seen = 0;
	$seen += $_->{calls} for grep { @{$_->{path}} && $_->{path}[-1] eq 'handler' } @{$run->{report}{regions}};
	is($seen, $worked, "$what: what worked is counted, once each");
	is(calls($run->{report}, $_), $calls{$_}, "$what: calls of $_") for sort keys %calls;
	is(calls($run->{report}, 'round-1', 'inner'), $calls{'round-1'}, "$what: calls of inner") if $how eq 'trap';
}

SKIP: {
	skip('no trap flag on this CPU', 1) unless $x86;
	ok_handler('trap', 'perf', map { ("round-$_" => 1, "late-$_" => 1) } 0 .. 3);
}
ok_handler('timer', $_) for @engines;

# ---- forks ----

sub ok_fork
{
	my ($how, $engine, $says, $address, %env) = @_;
	my $run = peek(engine => $engine, events => $events{$engine}, preload => lib() . ':' . program('libstep.so'),
		command => [program('coexist'), $how, $address // '0'], env => \%env);
	my $what = join(' ', "$engine: $how", values(%env));
	is($run->{out}, "all well\n", "$what: no child hangs or dies");
	is($run->{err}, '', "$what: nothing on stderr");
	is(status_text($run->{status}), 'exit 0', "$what: status");
	if ($says) {
		is(scalar(grep { !/$says/ } @{$run->{notes}}), 0, "$what: lines");
	} else {
		is(notes($run), 0, "$what: nothing to say") or diag(@{$run->{notes}});
	}
	ok_sums($run->{report}, $what);
	return $run;
}

# Where the library gives back what it measured itself with.
sub address_of
{
	my ($function) = @_;
	return map { /^([0-9a-f]+) [tT] \Q$function\E$/ ? $1 : () } `nm '@{[lib()]}'`;
}

SKIP: {
	skip('no trap flag on this CPU', 1) unless $x86;
	my $run = ok_fork('fork_in_handler', 'perf', qr/is not counted: a signal handler forked it inside/,
		address_of('cp_tree_drop'));
	ok(notes($run) > 10, 'fork_in_handler: children that are not counted are named');
	my $parent = root_process($run->{report});
	is(calls($parent->{threads}[0], "round-$_"), 1, "fork_in_handler: round-$_ is the parent's alone") for 0 .. 3;
	my @others = grep { !/^(round-\d( inner)?|late-\d|thread|)$/ } map { "@{$_->{path}}" } @{$run->{report}{regions}};
	is("@others", '', "fork_in_handler: regions are the program's");
	# The kernel copies no ring of samples into a child.
	ok_fork('fork_in_handler', 'perf', qr/is not counted: a signal handler|no names/, '0', CACHEPEEK_PROFILE => 'dtlb');
	$run = ok_fork('fork_from_thread', 'perf');
	my ($root, @children) = @{$run->{report}{processes}};
	# Many that ended alike are one row.
	my @odd = grep { calls($_->{threads}[0], 'round-0') != ($_->{folded} ? $_->{folded}{processes} : 1) } @children;
	ok(@children > 10 && !@odd, 'fork_from_thread: every child counts its own') or diag(scalar(@odd));
}
ok_fork('fork_often', $_) for @engines;

# ---- the program's own malloc ----

# It prints how often it was called: not once more than without the library,
# whose markers it uses itself.
for my $engine (@engines) {
	my $run = ok_same('own malloc', engine => $engine, events => $events{$engine},
		command => [program('own_malloc')], exes => ['own_malloc'], threads => 4);
	is(calls($run->{report}, 'work'), 300, "$engine: own malloc: regions of the program");
	is(calls($run->{report}, 'work', 'malloc'), 300, "$engine: own malloc: regions of malloc");
}

# ---- a program that looks for descriptors where ours are ----

SKIP: {
	skip('no python3 here', 1) unless which('python3');
	my $look = 'import os
def there(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in range(100000) if there(fd)])';
	ok_same('fstat of every descriptor', engine => 'perf', command => [which('python3'), '-c', $look]);
}

# ---- other preloaded libraries ----

my @directories = glob('/usr/lib/*-linux-gnu');
my %other = (
	jemalloc => 'libjemalloc.so.2', mimalloc => 'libmimalloc.so',
	libfaketime => 'faketime/libfaketimeMT.so.1',
);
# Everything that each may change is fixed, so that outputs can be compared.
my %other_env = (libfaketime => {FAKETIME => '@2001-02-03 04:05:06 x100000'});

sub ok_beside
{
	my ($what, $preload, %run) = @_;
	my $env = $run{env} || {};
	my ($alone) = grep { $_ ne lib() } split(/:/, $preload);
	my $plain = run(%run, env => {LD_PRELOAD => $alone, %$env});
	my $with = peek(%run, preload => $preload);
	is($with->{out}, $plain->{out}, "$what: same output");
	is($with->{err}, $plain->{err}, "$what: same errors");
	is(status_text($with->{status}), status_text($plain->{status}), "$what: same status");
	is(notes($with), 0, "$what: nothing to say") or diag(@{$with->{notes}});
	ok($with->{report}, "$what: a report") && ok_sums($with->{report}, $what);
	return $with;
}

my $shell = 'for i in 1 2 3; do (echo $i; exit $i); echo $?; done; date +%Y > /dev/null; ls / | wc -l';
my $simulated_shell = '(echo 1; exit 1); echo $?; date +%Y > /dev/null; true'; # each of its processes takes long
my $python = 'import threading, subprocess; t = [threading.Thread(target=lambda: [bytearray(9 << i) for i in range(20)]) for _ in range(4)]; ' .
	'[x.start() for x in t]; [x.join() for x in t]; print(subprocess.check_output(["echo", "child"]))';
for my $name (sort keys %other) {
	my ($file) = grep { -e } map { "$_/$other{$name}" } @directories;
SKIP: {
	skip("no $name here", 1) unless $file;
	for my $engine (@engines) {
		for my $preload (lib() . ":$file", "$file:" . lib()) {
			my $what = "$engine: $name " . ($preload =~ /^\Q$file/ ? 'before' : 'after') . ' ours';
			my %run = (engine => $engine, events => $events{$engine}, env => $other_env{$name});
			my $run = ok_beside("$what, regions", $preload, %run, command => [program('region_threads')]);
			ok_beside("$what, sh", $preload, %run, command => ['bash', '-c', $engine eq 'sim' ? $simulated_shell : $shell]);
			ok_beside("$what, python", $preload, %run, command => [which('python3'), '-c', $python])
				if $engine eq 'perf' && which('python3');
			next unless $engine eq 'perf';
			my ($whole) = grep { !@{$_->{path}} } @{$run->{report}{regions}};
			cmp_ok($whole->{time_s}{value}, '<', 100, "$what: time is real");
			cmp_ok($whole->{time_s}{value}, '>', 0, "$what: time goes on");
		}
	}
}
}

# ---- sanitizers: their runtimes have most of libc's functions, too ----

sub sanitized
{
	my ($compiler, $kind) = @_;
	my $exe = scratch("$compiler-$kind");
	my $build = run(cwd => source(), command => [$compiler, '-g', '-O1', "-fsanitize=$kind", '-I.',
		'-Iregions', '-D_GNU_SOURCE', '-pthread', '-o', $exe, 'tests/programs/region_threads.c']);
	return $build->{status} == 0 ? $exe : undef;
}

sub runtime
{
	my ($name) = @_;
	my $path = `gcc -print-file-name=$name`;
	chomp($path);
	return $path =~ m{/} ? $path : undef;
}

my @region_threads = (engine => 'perf', command => [program('region_threads')]);
for my $row (['gcc', 'address', 'libasan.so'], ['gcc', 'undefined'], ['gcc', 'thread'],
	['clang', 'address'], ['clang', 'undefined'], ['clang', 'thread']) {
	my ($compiler, $kind, $first) = @$row;
	my $what = "$compiler -fsanitize=$kind";
SKIP: {
	skip("no $compiler here", 1) unless which($compiler);
	my $exe = sanitized($compiler, $kind);
	skip("$what: no runtime here", 1) unless $exe && run(command => [$exe])->{status} == 0;
	my $run = ok_beside($what, join(':', $first ? runtime($first) : (), lib()),
		engine => 'perf', command => [$exe]);
	is(calls($run->{report}, 'walk'), 8, "$what: its regions");
}
}
SKIP: {
	my $asan = runtime('libasan.so');
	skip('no libasan here', 1) unless $asan;
	my $run = ok_beside('libasan first', "$asan:" . lib(), @region_threads,
		env => {ASAN_OPTIONS => 'detect_leaks=0'});
	is(calls($run->{report}, 'walk'), 8, 'libasan first: regions');
	$run = ok_beside('libasan first, sh', "$asan:" . lib(), engine => 'perf',
		command => ['bash', '-c', $shell], env => {ASAN_OPTIONS => 'detect_leaks=0'});
}
done_testing();
