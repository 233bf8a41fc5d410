#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_REGIONS=func:NAME: functions of programs that nobody rebuilt are regions,
# whatever leaves them, and count what callgrind counts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd qw(realpath);
use Peek;
use Test::More;

my $source = write_file(scratch('regions.cc'), <<'CC');
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "handlers.hh"
#define FUNCTION __attribute__((noinline, noclone))
static std::jmp_buf back;
static sigjmp_buf sig_back;
volatile int sink;
extern "C" {
FUNCTION int leaf(int n) { sink += n; return n + 1; }
FUNCTION int twice(int n) { return leaf(n) + leaf(n + 1); }
FUNCTION int down(int n) { int r = n ? down(n - 1) + 1 : 0; sink += r; return r; }
FUNCTION int after(int n) { sink++; return leaf(n); }        /* a tail call */
FUNCTION int before(int n) { sink++; return after(n); }      /* and another */
FUNCTION void jumps() { sink++; std::longjmp(back, 1); }
FUNCTION void lands() { if (setjmp(back) == 0) jumps(); leaf(0); }
FUNCTION void throws(int n) { if (n) throws(n - 1); else throw 1; sink++; }
FUNCTION void catches() { try { throws(1); } catch (int) { leaf(0); } sink++; }
FUNCTION void handler(int) { leaf(7); sink++; }
FUNCTION void raises() { std::raise(SIGUSR1); leaf(1); sink++; }
FUNCTION void escapes(int) { leaf(3); siglongjmp(sig_back, 1); }
FUNCTION void escaped() { if (sigsetjmp(sig_back, 1) == 0) std::raise(SIGUSR2); leaf(4); sink++; }
FUNCTION int forked() { leaf(5); return fork(); }
}
namespace outer { template<class T> FUNCTION T inner(T n) { sink += (int)n; return n + 1; } }
/* A jump to its own beginning, and two that jump to each other. */
extern "C" { void spin(int n); void ping(int n); void pong(int n); }
#define ASM(name, text) asm(".globl " name "\n.type " name ",%function\n" name ":\n" text "\n.size " name ", .-" name "\n");
#if defined(__x86_64__)
ASM("spin", "dec %edi\n jnz spin\n ret")
ASM("ping", "dec %edi\n jz 1f\n jmp pong\n1: ret")
ASM("pong", "jmp ping")
#else
ASM("spin", "sub w0, w0, 1\n cbnz w0, spin\n ret")
ASM("ping", "sub w0, w0, 1\n cbz w0, 1f\n b pong\n1: ret")
ASM("pong", "b ping")
#endif
static void *thread(void *at) { for (int i = 0; i < 3; i++) twice(i); return at; }
int main()
{
	double kept = 1.5;
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += twice(i);
	sum += down(4) + before(2);
	lands();
	spin(50);
	ping(5);
	catches();
	std::signal(SIGUSR1, handler);
	raises();
	make_signal_stack();
	handle(SIGUSR1, handler, SA_ONSTACK);
	raises();
	handle(SIGUSR2, escapes, SA_ONSTACK);
	escaped();
	pthread_t threads[3];
	for (pthread_t &t : threads)
		pthread_create(&t, nullptr, thread, nullptr);
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
	sum += outer::inner(3) + (int)outer::inner(4.5);
	if (forked() == 0) {
		sum += twice(9);
		std::printf("child %d\n", sum);
		std::fflush(stdout);
		_exit(0);
	}
	wait(nullptr);
	std::printf("%d %g\n", sum, kept * sum);
}
CC

my $program = scratch('regions');
is(system('g++', '-std=c++14', '-O2', '-I' . source() . '/tests/programs', '-o', $program, $source, '-pthread'), 0, 'a program');

sub functions
{
	my ($patterns, @command) = @_;
	return peek(engine => 'sim', machine => 'cachegrind', events => 'instructions,data_refs', command => \@command,
		env => {CACHEPEEK_REGIONS => join(',', map { "func:$_" } @$patterns)});
}

# PATH => calls
sub calls
{
	my ($in) = @_;
	return {map { join('/', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$in->{regions}}};
}

# ---- whatever leaves a function ----

my $plain = run(command => [$program]);
my $none = peek(engine => 'sim', machine => 'cachegrind', events => 'instructions,data_refs', command => [$program]);
my $with = functions([qw(leaf twice down after before jumps lands throws catches handler raises
	escapes escaped spin ping pong)], $program);
is($with->{out}, $plain->{out}, 'the output is the same');
is($with->{err}, $plain->{err}, 'nothing is said');
is_deeply($with->{report}{warnings}, $none->{report}{warnings}, 'no warning');
my $calls = calls($with->{report});
is_deeply($calls, {twice => 13, 'twice/leaf' => 26,
	down => 1, 'down/down' => 1, 'down/down/down' => 1, 'down/down/down/down' => 1,
	'down/down/down/down/down' => 1,
	before => 1, 'before/after' => 1, 'before/after/leaf' => 1,
	spin => 1, ping => 1, 'ping/pong' => 4,
	lands => 1, 'lands/jumps' => 1, 'lands/leaf' => 1,
	catches => 1, 'catches/throws' => 1, 'catches/throws/throws' => 1, 'catches/leaf' => 1,
	raises => 2, 'raises/handler' => 2, 'raises/handler/leaf' => 2, 'raises/leaf' => 2,
	escaped => 1, 'escaped/escapes' => 1, 'escaped/escapes/leaf' => 1, 'escaped/leaf' => 1,
	leaf => 1}, 'each call is where it belongs') or diag(explain($calls));
ok_sums($with->{report}, 'functions');
{
	my %each;
	for my $region (@{$with->{report}{regions}}) {
		my $last = $region->{path}[-1] // '';
		$each{value($region, $_) / $region->{calls}}{$_} = 1 for $last eq 'leaf' ? 'instructions' : ();
	}
	is(scalar(keys %each), 1, 'each call of a function counts the same') or diag(explain(\%each));
	my $one = region($with->{report}, 'twice');
	is(value($one, 'instructions') / 13, value(region(functions(['twice'], $program)->{report}, 'twice'),
		'instructions') / 13, 'and what it counts is the same without regions in it');
	my ($a, $b) = map { value(region($_->{report}), 'instructions') } $with, $none;
	cmp_ok(abs($a - $b), '<', 0.01 * $b, "as is the whole: $a, $b");
}

# ---- C++ ----

{
	my $run = functions(['outer::inner*'], $program);
	my @names = sort map { $_->{path}[-1] } grep { @{$_->{path}} } @{$run->{report}{regions}};
	is(scalar(@names), 2, 'names of C++ are chosen as the source has them') or diag("@names");
	is_deeply(calls(functions(['leaf', 'outer::inner<double>'], $program)->{report})->{$names[0]}, 1,
		'with arguments of templates');
	is_deeply([grep { /^l/ } keys %{calls(peek(engine => 'sim', events => 'instructions', command => [$program],
		env => {CACHEPEEK_REGIONS => 'func:leaf,func:lands,!func:l?nds'})->{report})}], ['leaf'], 'but for exceptions');
}

# ---- without symbols ----

{
	my $stripped = scratch('stripped');
	my ($address) = `nm $program` =~ /^0*([0-9a-f]+) T twice$/m;
	system('strip', '-o', $stripped, $program);
	my $run = functions(["stripped+0x$address"], $stripped);
	is_deeply(calls($run->{report}), {"stripped+0x$address" => 13}, 'a stripped program: by address');
	is_deeply(calls(functions(['twice'], $stripped)->{report}), {}, 'not by name');
}

# ---- names that nothing has ----

{
	my $run = functions(['leaf', 'nosuch*', '_Zno*'], $program);
	is_deeply([grep { /no function/ } @{$run->{report}{warnings}}],
		[map { "CACHEPEEK_REGIONS=func:$_: no function has that name" } 'nosuch*', '_Zno*'], 'what matches nothing is said');
}

# ---- beside markers, and where nothing simulates ----

{
	my $run = peek(engine => 'sim', events => 'instructions', command => [program('region_nested')],
		env => {CACHEPEEK_REGIONS => 'func:main'});
	my @paths = sort keys %{calls($run->{report})};
	is($paths[0], 'main', 'a function around regions');
	ok(@paths > 1 && !(grep { !m{^main(/|$)} } @paths), 'which are all there') or diag("@paths");
}
SKIP: {
	skip 'the kernel counts no page faults here', 1 unless can_count('software');
	skip 'functions are patched on x86-64 only', 1 unless `uname -m` =~ /x86_64/;
	my @functions = qw(leaf twice down after before jumps lands throws catches handler raises escapes escaped spin
		ping pong);
	my $run = peek(engine => 'perf', events => 'page-faults', command => [$program],
		env => {CACHEPEEK_REGIONS => join(',', map { "func:$_" } @functions)});
	my %expected = %$calls;
	my $stops = can_count('stop');
	delete $expected{'ping/pong'} if !$stops; # two bytes, and no room behind
	is_deeply(calls($run->{report}), \%expected, 'kernel counters: the same calls') or diag(explain(calls($run->{report})));
	is($run->{out}, $plain->{out}, 'and the same output');
	is_deeply([grep { /func:.*pong/ } @{$run->{report}{warnings}}], ['CACHEPEEK_REGIONS=func: ' . ($stops ?
		'pong cannot be patched, and begins at a breakpoint of the CPU, which takes microseconds at each call' :
		'1 function is no region: shorter than a jump, with no room behind: pong')],
		'which function is not patched, and why');
}

# ---- callgrind ----

my $text = write_file(scratch('text'), join('', map { read_file(source() . "/tests/sim/$_") } qw(callgrind.t client.c)));
my %programs = (
	sqlite3 => ['libsqlite3', 'sqlite3*', [sqlite_command('create table t(a integer primary key, ' .
		'b text); with recursive c(x) as (select 1 union all select x+1 from c where x<500) insert into t ' .
		'select x, hex(x*2654435761) from c; create index i on t(b); select count(*) from t where b > 5;')]],
	python3 => ['python', 'Py*', ['/usr/bin/python3', '-S', '-c', 'print(sum(len(str(x)) for x in range(3000)))']],
	gzip => ['gzip', undef, ['/bin/gzip', '-c', $text]],
);

# {FUNCTION => {EVENT => N}} with what it calls; not of those that call themselves.
sub callgrind
{
	my (@command) = @_;
	my $file = scratch('callgrind.out');
	my $run = run(command => ['valgrind', '--tool=callgrind', '--cache-sim=yes', '--skip-plt=no',
		'--compress-strings=no', '--compress-pos=no', "--callgrind-out-file=$file", @command],
		env => {PYTHONHASHSEED => 0});
	my (%inclusive, %recursive, @events, $function, $object);
	for my $line (split /\n/, read_file($file)) {
		@events = split ' ', $1 if $line =~ /^events: (.*)/;
		$object = $1 if $line =~ /^ob=(.*)/;
		if ($line =~ /^fn=(.*?)('\d+)?$/) {
			my ($name, $again) = ($1, $2);
			my ($address) = $name =~ /^0x0*([0-9a-f]+)$/;
			$function = $address ? ($object =~ s{.*/}{}r) . "+0x$address" : $name;
			$recursive{$function} = 1 if $again;
		}
		next unless $line =~ /^(?:0x)?\d/;
		my (undef, @cost) = split ' ', $line;
		$inclusive{$function}{$events[$_]} += $cost[$_] for 0 .. $#cost;
	}
	delete @inclusive{keys %recursive};
	return \%inclusive;
}

# The others take half a minute: CALLGRIND_ALL=1.
delete @programs{qw(gzip python3)} unless $ENV{CALLGRIND_ALL};
for my $name (sort keys %programs) {
	my ($object, $pattern, $command) = @{$programs{$name}};
	SKIP: {
		skip "no $command->[0] here", 3 unless -x $command->[0];
		skip 'no callgrind here', 3 unless which('valgrind');
		my $theirs = callgrind(@$command);
		my %refs = map { $_ => ($theirs->{$_}{Dr} // 0) + ($theirs->{$_}{Dw} // 0) } keys %$theirs;
		my @patterns = $pattern ? ($pattern)
			: (sort { $refs{$b} <=> $refs{$a} } grep { /^\Q$object\E\+0x/ } keys %refs)[0 .. 14];
		my %ours;
		my $run = functions([grep { defined } @patterns], @$command);
		for my $region (@{$run->{report}{regions}}) {
			my @path = @{$region->{path}};
			my $last = pop @path // next;
			$ours{$last} += value($region, 'data_refs') unless grep { $_ eq $last } @path;
		}
		my @top = (sort { $refs{$b} <=> $refs{$a} || $a cmp $b } grep { $refs{$_} } keys %ours);
		@top = @top[0 .. 24] if @top > 25;
		cmp_ok(scalar(@top), '>=', 10, "$name: functions to compare");
		my @far = grep { abs($ours{$_} - $refs{$_}) > 0.005 * $refs{$_} } @top;
		is_deeply([map { "$_ $ours{$_}, callgrind $refs{$_}" } @far], [],
			"$name: data references of " . @top . ' functions, with what they call, as callgrind has them');
	}
}

done_testing;
