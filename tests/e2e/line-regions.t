#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_REGIONS=line:FILE:LINE: statements are regions, with what they call, whatever
# leaves them, and count what callgrind counts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub lines
{
	return lines_by(lib(), @_);
}

# By this library.
sub lines_by
{
	my ($preload, $specs, @command) = @_;
	return peek(engine => 'sim', events => 'instructions,data_refs', command => \@command, preload => $preload,
		env => {PYTHONHASHSEED => 0, CACHEPEEK_REGIONS => join(',', @$specs)});
}

# PATH => calls
sub calls
{
	my ($in) = @_;
	return {map { join('/', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$in->{regions}}};
}

# ---- whatever leaves a statement ----

my $source = <<'CC';
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "handlers.hh"
#define FUNCTION __attribute__((noinline, noclone))
static std::jmp_buf back;
static sigjmp_buf sig_back;
volatile int sink;
FUNCTION int leaf(int n) { sink += n; return n + 1; }
FUNCTION int down(int n)
{
	if (n)
		{ int r = down(n - 1); sink++; return r + 1; } // DOWN
	return 0;
}
FUNCTION int one(int n) { return n ? one(n - 1) + 1 : leaf(3); } // ONE
FUNCTION int tail(int n)
{
	sink++;
	return leaf(n); // TAIL
}
FUNCTION void jumps() { sink++; std::longjmp(back, 1); }
FUNCTION void throws(int n) { if (n) throws(n - 1); else throw 1; sink++; }
FUNCTION void catches()
{
	try {
		throws(2); // THROWS
	} catch (int) {
		leaf(0); // CATCHES
	}
	sink++;
}
FUNCTION void handler(int)
{
	leaf(7); // HANDLER
}
FUNCTION void raises()
{
	std::raise(SIGUSR1); // RAISES
	sink++;
}
FUNCTION void escapes(int)
{
	siglongjmp(sig_back, 1); // ESCAPES
}
FUNCTION void escaped()
{
	if (sigsetjmp(sig_back, 1) == 0)
		std::raise(SIGUSR2); // ESCAPED
	leaf(4);
}
// A fault in the midst of a statement, which goes on when the handler has repaired it.
static volatile int *page;
FUNCTION void fault(int)
{
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE); // REPAIRS
}
FUNCTION void faults()
{
	*page = leaf(1); // FAULTS
	leaf(2);
}
FUNCTION void spin() { do sink++; while (sink & 15); } // SPIN
static void *thread(void *at)
{
	for (int i = 0; i < 3; i++) {
		leaf(i); // THREAD
		sink++;
	}
	return at;
}
FUNCTION int loop(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum += leaf(i); // LOOP
		sink += sum; // LOOP2
	}
	return sum;
}
int main(int argc, char **argv)
{
	int sum = loop(5);
	sum += down(4); // MAIN
	sum += one(3);
	sum += tail(3);
	spin();
	if (setjmp(back) == 0)
		jumps(); // JUMPS
	catches();
	std::signal(SIGUSR1, handler);
	raises();
	make_signal_stack();
	handle(SIGUSR1, handler, SA_ONSTACK);
	raises();
	handle(SIGUSR2, escapes, SA_ONSTACK);
	escaped();
	handle(SIGSEGV, fault, SA_ONSTACK);
	page = (volatile int *)mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults();
	handle(SIGSEGV, fault, 0);
	mprotect((void *)page, 4096, PROT_NONE);
	faults();
	pthread_t threads[3];
	for (pthread_t &t : threads)
		pthread_create(&t, nullptr, thread, nullptr);
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
	for (int i = 0; argc > 1 && i < 2; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		if (!plugin)
			return 1;
		sum += ((int (*)(int))dlsym(plugin, "plugged"))(i);
		dlclose(plugin);
	}
	if (fork() == 0) {
		sum += leaf(9); // FORKED
		std::printf("child %d\n", sum);
		std::fflush(stdout);
		_exit(0);
	}
	wait(nullptr);
	std::printf("%d\n", sum);
}
CC

# NAME => its line
my (%line, $n);
for my $text (split /\n/, $source) {
	$n++;
	$line{$1} = $n if $text =~ m{// ([A-Z0-9]+)$};
}
write_file(scratch('lines.cc'), $source);
write_file(scratch('plugin.c'), "int plugged(int n)\n{\n\treturn n + 40;\n}\n");
my $plugin = scratch('plugin.so');
is(system('cc', '-O0', '-g', '-fPIC', '-shared', '-o', $plugin, scratch('plugin.c')), 0, 'a plugin');

sub named
{
	my ($calls) = @_;
	my %name = map { $line{$_} => $_ } keys %line;
	return {map { (my $path = $_) =~ s/lines\.cc:(\d+)/$name{$1}/g; $path => $calls->{$_} } keys %$calls};
}

my %built = ('as programs are built' => ['-O0'], 'without PIE' => ['-O0', '-no-pie'], 'optimised' => ['-O1', '-foptimize-sibling-calls']);
for my $how (sort keys %built) {
	my $program = scratch('lines');
	is(system('g++', '-std=c++14', '-g', @{$built{$how}}, '-I' . source() . '/tests/programs', '-o', $program, scratch('lines.cc'), '-pthread', '-ldl'), 0, "$how: a program");
	my $plain = run(command => [$program, $plugin]);
	my $none = peek(engine => 'sim', events => 'instructions,data_refs', command => [$program, $plugin]);
	my $with = lines([(map { "line:lines.cc:$line{$_}" } grep { $_ ne 'ONE' } keys %line), 'plugin.c:3'], $program, $plugin);
	is($with->{out}, $plain->{out}, "$how: the output is the same");
	is_deeply($with->{report}{warnings}, $none->{report}{warnings}, "$how: no warning");
	my $calls = named(calls($with->{report}));
	is_deeply($calls, {LOOP => 5, LOOP2 => 5, MAIN => 1, 'MAIN/DOWN' => 1, 'MAIN/DOWN/DOWN' => 1, 'MAIN/DOWN/DOWN/DOWN' => 1,
		'MAIN/DOWN/DOWN/DOWN/DOWN' => 1, TAIL => 1, SPIN => 1, JUMPS => 1, THROWS => 1, CATCHES => 1,
		RAISES => 2, 'RAISES/HANDLER' => 2, ESCAPED => 1, 'ESCAPED/ESCAPES' => 1, FAULTS => 2, 'FAULTS/REPAIRS' => 2,
		THREAD => 9, FORKED => 1, 'plugin.c:3' => 2},
		"$how: each is where it belongs") or diag(explain($calls));
	ok_sums($with->{report}, "$how: lines");
	my ($a, $b) = map { value(region($_->{report}), 'data_refs') } $with, $none;
	cmp_ok(abs($a - $b), '<', 0.01 * $b, "$how: the whole is what it is without: $a, $b");
	next if $how =~ /PIE/;
	my $both = calls(lines(["lines.cc:$line{TAIL}", 'func:leaf*', "lines.cc:$line{SPIN}", 'func:spin*'], $program)->{report});
	is(scalar(grep { m{:$line{TAIL}/[^/]*leaf} } keys %$both), 1, "$how: what is called at the end");
	is_deeply([map { $both->{$_} } grep { /:$line{SPIN}\b|spin/ } keys %$both], [1, 1], "$how: a loop to a function's beginning");
	next unless $how =~ /^as/;
	is_deeply(named(calls(lines(["lines.cc:$line{ONE}"], $program)->{report})),
		{ONE => 1, 'ONE/ONE' => 1, 'ONE/ONE/ONE' => 1, 'ONE/ONE/ONE/ONE' => 1}, 'a function of one line');
	my $range = lines(["line:lines.cc:$line{LOOP}-$line{LOOP2}"], $program);
	is_deeply(calls($range->{report}), {"lines.cc:$line{LOOP}-$line{LOOP2}" => 5}, 'a range');
	my $between = calls(lines(["func:loop*", "lines.cc:$line{LOOP}", 'func:leaf*'], $program)->{report});
	is($between->{"_Z4loopi/lines.cc:$line{LOOP}/_Z4leafi"} // $between->{"loop(int)/lines.cc:$line{LOOP}/leaf(int)"}, 5, 'between functions');
	my $here = realpath_of(scratch('lines.cc'));
	is_deeply([values %{calls(lines(["line:$here:$line{LOOP}"], $program)->{report})}], [5], 'the whole path');
	is_deeply(calls(lines(["line:ines.cc:$line{LOOP}"], $program)->{report}), {}, 'not a part of a name');
}

sub realpath_of { require Cwd; return Cwd::realpath($_[0]) }

# ---- what is not there ----

{
	write_file(scratch('few.c'), <<'C');
volatile int sink;

int main(void)
{
	sink = 1;

	/* nothing */

	sink = 2;
	return 0;
}
C
	my $program = scratch('few');
	system('cc', '-O0', '-g', '-o', $program, scratch('few.c'));
	my $warnings = sub { my ($specs, @command) = @_; return join("\n", @{lines($specs, @command)->{report}{warnings}}) };
	is($warnings->(['few.c:5', 'few.c:9'], $program), '', 'lines that are there');
	my @absent = @{lines(['few.c:7', 'few.c:90', 'line:other.c:5'], $program)->{report}{warnings}};
	is($absent[0], 'CACHEPEEK_REGIONS=line:few.c:7: no code is of that line; the nearest that have some are 5 and 9', 'no code of a line');
	is($absent[1], 'CACHEPEEK_REGIONS=line:few.c:90: no code is of that line; the nearest that has some is 11', 'beyond the end');
	like($absent[2], qr/^CACHEPEEK_REGIONS=line:other\.c:5: no such file in the line numbers /, 'no such file');
	is(scalar(@absent), 3, 'a line for each');
	my $stripped = scratch('stripped');
	system('strip', '-o', $stripped, $program);
	is($warnings->(['few.c:5'], $stripped),
		'CACHEPEEK_REGIONS=line:few.c:5: stripped has no line numbers: build it with -g, or install its debug symbols', 'no debug information');
	my $run = lines(['few.c:5'], 'sh', '-c', "$program; $stripped; $program");
	is(join("\n", @{$run->{report}{warnings}}), '', 'it is enough that one process has it');
	is(calls($run->{report})->{'few.c:5'}, 2, 'and it counts in each that does');
	is($warnings->(['few.c:5', 'few.c:7'], 'sh', '-c', "$program; $program; exit 0") =~ tr/\n//, 0, 'and one line for all processes');
	my @bad = ('line:few.c', 'line:few.c:0', 'line:few.c:9-5', 'line:few.c:5x', 'line::5', '!line:few.c:5');
	my $refused = $warnings->(\@bad, $program);
	like($refused, qr/^CACHEPEEK_REGIONS: \Q$_\E is ignored: expected line:FILE:LINE or line:FILE:FIRST-LAST, /m, "$_: refused")
		for @bad;
	my $perf = peek(engine => 'perf', command => [$program], env => {CACHEPEEK_REGIONS => 'few.c:5'});
	like("@{$perf->{notes}}", qr/line: in CACHEPEEK_REGIONS is ignored: it takes the simulated PMU/, 'kernel counters: it says so');

	# ---- what they look like: as other regions ----

	my @outputs = map { scratch("few.$_") } qw(txt json csv html);
	run(command => [cli(), 'run', '-E', 'sim', '-e', 'instructions', (map { ('-o', $_) } @outputs), $program],
		env => {CACHEPEEK_REGIONS => 'few.c:5-9,func:main'});
	like(read_file($_), qr/few\.c:5-9/, "in $_") for @outputs;
}

# ---- programs that are made at random, to the last one ----

# A program of functions that call each other, of which each statement is on a line of its
# own; callgrind says what a line has by itself and with what it calls.
sub random_program
{
	my ($seed) = @_;
	my @text = ('volatile long sink;');
	srand($seed);
	for my $f (reverse 0 .. 7) {
		push @text, "__attribute__((noinline)) long f$f(long n)", '{', "\tlong x = n;";
		for (1 .. 2 + int(rand(4))) {
			my $callee = $f + 1 + int(rand(3));
			my $call = $callee < 8 ? "f$callee(x & 3)" : 'x * 3';
			push @text, (
				"\tx += $call;",
				"\tsink += x ^ " . int(rand(100)) . ';',
				"\tfor (long i = 0; i < " . (1 + int(rand(4))) . "; i++)\n\t\tx += $call + i;",
				"\tif (x & 1)\n\t\tx -= $call;\n\telse\n\t\tsink--;")[rand 4];
		}
		push @text, "\treturn x;", '}';
	}
	return join("\n", @text, 'int main(void) { return f0(3) == 7; }', '');
}

# callgrind counts the pieces that the core makes of an instruction: bit tests of registers, which
# some compilers make, have a load and a store each.  A library beside which the simulator does.
sub counts_pieces
{
	my ($at, $tool) = (scratch('pieces'), (grep { !/x86/ } glob(build() . '/libcachepeek/cachepeek-*-linux'))[0]);
	mkdir($_) for $at, "$at/libcachepeek";
	symlink($_, "$at/libcachepeek/" . s{.*/}{}r) for grep { $_ ne $tool } glob(build() . '/libcachepeek/*');
	system('cp', lib(), "$at/libcachepeek.so") == 0 or die;
	# Static, so that the library is not loaded into it.
	write_file(scratch('pieces.c'), <<C);
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char **to = calloc((size_t)argc + 2, sizeof(*to));
	to[0] = argv[0];
	to[1] = "--pieces=yes";
	for (int i = 1; i < argc; i++)
		to[i + 1] = argv[i];
	execv("$tool", to);
	return 127;
}
C
	system('cc', '-static', '-o', "$at/libcachepeek/" . ($tool =~ s{.*/}{}r), scratch('pieces.c')) == 0 or die;
	return "$at/libcachepeek.so";
}
my $as_callgrind = counts_pieces();

# {LINE => {EVENT => N}} of the file: what its lines have, and what they call has.
sub callgrind
{
	my ($file, @command) = @_;
	my $out = scratch('callgrind.out');
	run(command => ['valgrind', '--tool=callgrind', '--dump-line=yes', '--cache-sim=yes', '--compress-strings=no',
		'--compress-pos=no', '--dump-instr=no', "--callgrind-out-file=$out", @command], env => {PYTHONHASHSEED => 0});
	my (%at, @events, $in, %recursive);
	for my $text (split /\n/, read_file($out)) {
		@events = split ' ', $1 if $text =~ /^events: (.*)/;
		$in = $1 if $text =~ /^(?:fl|fi|fe)=(.*)/;
		next unless $text =~ /^\d/ && $in =~ m{(^|/)\Q$file\E$};
		my ($line, @cost) = split ' ', $text;
		$at{$line}{$events[$_]} += $cost[$_] for 0 .. $#cost;
	}
	return \%at;
}

sub compare
{
	my ($name, $file, $lines, $tolerance, $few, $theirs, @command) = @_;
	my %want = map { my $of = $theirs->{$_}; $_ => [$of->{Ir} // 0, ($of->{Dr} // 0) + ($of->{Dw} // 0)] } @$lines;
	my (%have, %recursive);
	my $run = lines_by($as_callgrind, [map { "line:$file:$_" } @$lines], @command);
	for my $region (@{$run->{report}{regions}}) {
		my @path = @{$region->{path}};
		my ($line) = (pop(@path) // next) =~ /:(\d+)$/;
		# callgrind has the calls of a line that comes to itself several times.
		$recursive{$line} = 1 if grep { /:$line$/ } @path;
		$have{$line}[0] += value($region, 'instructions');
		$have{$line}[1] += value($region, 'data_refs');
	}
	my @far;
	for my $line (grep { !$recursive{$_} } @$lines) {
		for my $i (0, 1) {
			my ($have, $want) = (($have{$line} // [0, 0])->[$i], $want{$line}[$i]);
			push @far, "line $line: $have, callgrind $want" if abs($have - $want) > $few && abs($have - $want) > $tolerance * $want;
		}
	}
	is_deeply(\@far, [], "$name: " . (@$lines - keys %recursive) . ' lines, with what they call, as callgrind has them');
}

SKIP: {
	skip 'no callgrind here', 1 unless which('valgrind');
	for my $seed (1 .. $ENV{LINE_SEEDS} || 2) {
		my $optimise = $seed % 2 ? '-O0' : '-O2';
		write_file(scratch('random.c'), random_program($seed));
		system('cc', $optimise, '-g', $seed % 3 ? () : '-no-pie', '-o', scratch('random'), scratch('random.c')) == 0 or die;
		my $theirs = callgrind('random.c', scratch('random'));
		compare("random program $seed, $optimise", 'random.c', [sort { $a <=> $b } keys %$theirs], 0, 0, $theirs, scratch('random'));
	}
}

# ---- real programs ----

my %programs = (
	'a unit test' => ['output/metrics/formula.c', [build() . '/tests/unit/output_formula.t'], 0, 0],
	# They look through their environment, which is not the same.
	'cachepeek itself' => ['output/metrics/preset.c', [cli(), 'list', 'presets'], 0.005, 500],
	python3 => ['Python/ceval.c', ['/usr/bin/python3', '-S', '-c', 'print(sum(len(str(x)) for x in range(100)))'], 0.005, 500],
);
# The others take a minute, and python3.11-dbg: CALLGRIND_ALL=1.
delete @programs{'cachepeek itself', 'python3'} unless $ENV{CALLGRIND_ALL};
for my $name (sort keys %programs) {
	my ($file, $command, $tolerance, $few) = @{$programs{$name}};
	SKIP: {
		skip 'no callgrind here', 1 unless which('valgrind');
		# callgrind has the work of the linker that a first call causes elsewhere.
		local $ENV{LD_BIND_NOW} = 1;
		my $theirs = callgrind($file, @$command);
		my @lines = sort { $theirs->{$b}{Ir} <=> $theirs->{$a}{Ir} || $a <=> $b } keys %$theirs;
		@lines = @lines[0 .. 29] if @lines > 30;
		cmp_ok(scalar(@lines), '>=', 10, "$name: lines to compare");
		compare($name, $file, [sort { $a <=> $b } @lines], $tolerance, $few, $theirs, @$command);
	}
}

done_testing;
