#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Functions that cannot be patched, where the kernel counts: the first few that are named
# begin at breakpoints of the CPU.  Calls are those that a program is known to have,
# and whatever it does with SIGTRAP, threads and processes is as without us.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX qw(:signal_h);
use Test::More;

plan(skip_all => 'breakpoints of x86-64 only') unless `uname -m` =~ /x86_64/;
need_perf('stop');

# No room for a jump; a jump into the bytes that it would take.
my $tight = write_file(scratch('tight.S'), <<'S');
	.macro function name
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	.endm
	.macro done name
	.cfi_endproc
	.size \name, .-\name
	.endm
	.text
	function tiny
	ret
	done tiny
	function deep
	push %rax
	.cfi_adjust_cfa_offset 8
	dec %rdi
	js 1f
	call deep
1:	pop %rax
	.cfi_adjust_cfa_offset -8
	ret
	jmp deep+1
	done deep
	function pass
	push %rax
	.cfi_adjust_cfa_offset 8
	call *%rdi
	pop %rax
	.cfi_adjust_cfa_offset -8
	ret
	jmp pass+1
	done pass
	function again	# a jump to its own beginning is no call
	dec %rdi
	jns again
	ret
	jmp again+1
	done again
	function fifth
	ret
	done fifth
	.section .note.GNU-stack,"",@progbits
S
my $main = write_file(scratch('main.cc'), <<'CC');
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
extern "C" void tiny(void), deep(long n), pass(void (*f)(void)), again(long n), fifth(void);
static std::jmp_buf back;
static void throws() { throw std::string("x"); }
static void jumps() { std::longjmp(back, 1); }
static void calls() { tiny(); }
static void catches() { try { pass(throws); } catch (std::string &) { } }
static void handler(int) { tiny(); }
static void leaves(int) { tiny(); pass(jumps); }
static void known(long n)
{
	for (long i = 0; i < n; i++)
		tiny();
	deep(50);
	again(7);
	for (int i = 0; i < 10; i++) {
		catches();
		if (!setjmp(back))
			pass(jumps);
		pass(calls);
	}
	std::vector<std::thread> threads;
	for (int i = 0; i < 8; i++)
		threads.emplace_back([] { for (int j = 0; j < 1000; j++) tiny(); catches(); });
	for (auto &t : threads)
		t.join();
	fifth();
}
/* On another stack, with every signal blocked, left by a jump. */
static void handles(long)
{
	struct sigaction action = {};
	stack_t stack = {std::malloc(1 << 17), 0, 1 << 17};
	sigaltstack(&stack, nullptr);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	raise(SIGUSR1);
	action.sa_handler = leaves;
	sigaction(SIGUSR2, &action, nullptr);
	if (!sigsetjmp(back, 1))
		raise(SIGUSR2);
	sigfillset(&action.sa_mask);
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, nullptr);
	raise(SIGUSR1);
	tiny();
}
static void forks(long)
{
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			std::thread t([] { tiny(); });
			t.join();
			for (int j = 0; j < 4; j++)
				tiny();
			std::exit(0);
		}
		tiny();
		wait(nullptr);
	}
}
static void vforks(long)
{
	tiny();
	if (vfork() == 0) {
		tiny();
		execl("/bin/true", "true", nullptr);
	}
	wait(nullptr);
	tiny();
	std::printf("%d\n", std::system("exit 3") >> 8);
}
static void blocks(long)
{
	sigset_t all, pending;
	timespec no = {0, 0};
	tiny();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, nullptr);
	tiny();
	sigpending(&pending);
	int fd = signalfd(-1, &all, SFD_NONBLOCK);
	pollfd poll = {fd, POLLIN, 0};
	std::printf("%d %d", sigismember(&pending, SIGTRAP), ::poll(&poll, 1, 0));
	sigemptyset(&pending);
	std::printf(" %d", ppoll(nullptr, 0, &no, &pending));
	std::printf(" %d\n", sigtimedwait(&all, nullptr, &no));
}
/* By system calls that the program makes by hand. */
static void rawblocks(long)
{
	unsigned long mask = 1ul << (SIGTRAP - 1);
	sigset_t pending;
	tiny();
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, 8);
	tiny();
	sigpending(&pending);
	std::printf("%d\n", sigismember(&pending, SIGTRAP));
}
static void rawsets(long)
{
	struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } ignore = {(void *)1, 0, nullptr, 0};
	tiny();
	std::printf("%ld\n", syscall(SYS_rt_sigaction, SIGTRAP, &ignore, nullptr, 8));
	raise(SIGTRAP);
	tiny();
}
/* What a tracer of its own child sees, until that ends. */
static void traced(bool raw)
{
	int status, stops = 0;
	tiny();
	pid_t child = fork();
	if (child == 0) {
		if (raw)
			syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
		else
			ptrace(PTRACE_TRACEME, 0, 0, 0);
		for (int i = 0; i < 5; i++)
			tiny();
		_exit(7);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_CONT, child, 0, 0);
	}
	std::printf("%d %d\n", stops, WEXITSTATUS(status));
}
static void traces(long) { traced(false); }
static void rawtraces(long) { traced(true); }
/* On the stack of the function that is called, and no other. */
static void elsewhere(long)
{
	stack_t stack = {std::calloc(1, 1 << 17), 0, 1 << 17};
	sigaltstack(&stack, nullptr);
	for (int i = 0; i < 10; i++)
		tiny();
	int used = 0;
	for (int i = 0; i < 1 << 17; i++)
		used += static_cast<char *>(stack.ss_sp)[i] != 0;
	std::printf("%d\n", used);
}
static volatile int traps;
static void trap(int) { traps++; }
static void takes(long)
{
	struct sigaction old;
	sigaction(SIGTRAP, nullptr, &old);
	bool was = old.sa_handler == SIG_DFL && !old.sa_flags;
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([] { for (int j = 0; j < 3000; j++) tiny(); });
	std::printf("%d", was && signal(SIGTRAP, trap) == SIG_DFL);
	raise(SIGTRAP);
	__asm__ volatile("int3");
	for (auto &t : threads)
		t.join();
	std::printf(" %d\n", traps);
}
/* All descriptors that there are. */
static void fills(long)
{
	std::vector<int> open;
	int fd;
	tiny();
	while ((fd = dup(0)) >= 0)
		open.push_back(fd);
	for (int one : open)
		close(one);
	tiny();
	std::printf("%zu\n", open.size());
}
static void confines(long)
{
	sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	sock_fprog filter = {1, &all};
	tiny();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	std::printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
	tiny();
}
static void ignores(long) { tiny(); signal(SIGTRAP, SIG_IGN); raise(SIGTRAP); tiny(); std::puts("alive"); }
static void raises(long) { tiny(); std::fflush(stdout); raise(SIGTRAP); }
static void breaks(long) { tiny(); __asm__ volatile("int3"); }
static void blocked(long) { sigset_t now; sigprocmask(0, nullptr, &now); tiny(); std::printf("%d\n", sigismember(&now, SIGTRAP)); }
int main(int argc, char **argv)
{
	std::map<std::string, void (*)(long)> all = {{"known", known}, {"handles", handles}, {"forks", forks}, {"vforks", vforks},
		{"blocks", blocks}, {"takes", takes}, {"ignores", ignores}, {"raises", raises}, {"breaks", breaks}, {"blocked", blocked}, {"confines", confines}, {"rawblocks", rawblocks}, {"rawsets", rawsets}, {"traces", traces}, {"rawtraces", rawtraces}, {"elsewhere", elsewhere}, {"fills", fills}};
	all.at(argv[1])(argc > 2 ? std::atol(argv[2]) : 1);
}
CC
my $program = scratch('stops');
is(system('g++', '-std=c++14', '-O2', '-o', $program, $main, $tight, '-pthread'), 0, 'a program of functions that cannot be patched');

my $FIRST = 'func:tiny,func:deep,func:pass,func:again';
sub stopped
{
	my ($case, %more) = @_;
	return peek(engine => 'perf', events => 'page-faults', command => [$program, split(/ /, $case)],
		%more, env => {CACHEPEEK_REGIONS => $FIRST, %{$more{env} || {}}});
}

# PATH => calls
sub calls
{
	my ($report) = @_;
	return {map { join('/', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$report->{regions}}};
}

# Lines that are said, except that there are breakpoints, and how long threads ran before they were counted,
# which is a per cent of the time on a busy machine.
sub said
{
	my ($run) = @_;
	return [grep { !/ cannot be patched, and |^<unattributed>/ } map { s/^CACHEPEEK_REGIONS=func: //r } @{$run->{report}{warnings}}];
}

sub digest { my ($run) = @_; return {map { $_ => $run->{$_} } qw(status out err)} }

# ---- what is known ----

{
	my $many = $ENV{STOPS} || 1 << 15; # 1048576: 20 s
	my $run = stopped("known $many");
	is_deeply(digest($run), digest(run(command => [$program, 'known', $many])), 'it runs as alone');
	is_deeply(calls($run->{report}), {tiny => $many + 8000, (map { join('/', ('deep') x $_) => 1 } 1 .. 51), again => 1,
		pass => 38, 'pass/tiny' => 10}, 'all calls: threads, recursion, exceptions, jumps, a jump to the beginning')
		or diag(explain(calls($run->{report})));
	is_deeply([grep { !/^<unattributed>/ } @{$run->{report}{warnings}}], ['CACHEPEEK_REGIONS=func: tiny, deep, pass, again cannot be patched, and begin '
		. 'at a breakpoint of the CPU, which takes microseconds at each call'], 'and how they begin is said');
	ok_sums($run->{report}, 'the sums');
}
{
	my $run = stopped('known', env => {CACHEPEEK_REGIONS => "$FIRST,func:fifth"});
	my $calls = calls($run->{report});
	is_deeply([@$calls{qw(tiny fifth)}], [8001, undef], 'the first four of five');
	is_deeply(said($run), ['1 function is no region: shorter than a jump, with no room behind: fifth',
		'no breakpoint instead: the CPU has no more of them'], 'and why the fifth is none');
	$run = stopped('known', env => {CACHEPEEK_REGIONS => 'func:tin*,func:fifth'});
	is_deeply(calls($run->{report}), {fifth => 1}, 'one that a wildcard found has none');
	is_deeply(said($run), ['1 function is no region: shorter than a jump, with no room behind: tiny'], 'and that is said');
}
SKIP: {
	skip 'the kernel counts no breakpoints here', 2 unless can_count('breakpoint');
	my $run = stopped('known', events => 'page-faults,mem:0x1000:x');
	is_deeply(said($run), ['1 function is no region: something jumps into the bytes that the patch takes: again',
		'no breakpoint instead: the CPU has no more of them'], 'what is counted goes first');
	is(calls($run->{report})->{tiny}, 8001, '... and the others are counted');
}

# ---- whatever the program does ----

# CASE => [calls of tiny, what is said]
my $NAMES = 'tiny, deep, pass, again';
my $until = "calls of $NAMES are counted up to where breakpoints were given up";
my @cases = (
	[handles => 3, "1 call of $NAMES is not counted: SIGTRAP was blocked"],
	[forks => 18],
	[vforks => 2],
	[blocks => 1, "$until: the program blocks SIGTRAP"],
	[takes => undef, "$until: the program sets SIGTRAP itself"],
	[ignores => 1, "$until: the program sets SIGTRAP itself"],
	[rawblocks => 1, "$until: the program blocks SIGTRAP"],
	[rawsets => 1, "$until: the program sets SIGTRAP itself"],
	[traces => 1, "$until: the program is traced"],
	[rawtraces => 1, "$until: the program is traced"],
	[elsewhere => 10],
	[raises => 1],
	[breaks => 1],
	[confines => 1, "$until: the program forbids itself system calls"],
);
for (@cases) {
	my ($case, $calls, @said) = @$_;
	my $run = stopped($case);
	is_deeply(digest($run), digest(run(command => [$program, $case])), "$case: output and status are as alone");
	is(calls($run->{report})->{tiny}, $calls, "$case: $calls calls") if defined $calls;
	is_deeply(said($run), \@said, "$case: " . (@said ? 'what is not counted is said' : 'all are counted')) or diag(explain($run->{report}{warnings}));
}

{
	my @few = ('sh', '-c', 'ulimit -n 200 && exec "$@"', 'sh');
	my $run = stopped('fills', under => [@few, '/usr/bin/env']);
	is_deeply(digest($run), digest(run(command => [@few, $program, 'fills'])), 'fills: the program has all of its descriptors');
	is_deeply([grep { /given up/ } @{said($run)}], ["$until: the program needs all of its descriptors"], '... and what is not counted is said')
		or diag(explain($run->{report}{warnings}));
}

# Functions that we call before main, as libc's memmove on any CPU that has these.
{
	my $run = stopped('', command => [program('empty')],
		env => {CACHEPEEK_REGIONS => join(',', map { "func:__memmove_${_}_unaligned_erms" } qw(sse2 avx evex avx512))});
	is_deeply(calls($run->{report}), {}, 'our own calls are none of the program') or diag(explain(calls($run->{report})));
}

# ---- where it would not be safe ----

my @refused = ('1 function is no region: shorter than a jump, with no room behind: tiny',
	'3 functions are no regions: something jumps into the bytes that the patch takes: deep, pass, again');
{
	local $SIG{TRAP} = 'IGNORE';
	my $run = stopped('raises');
	is_deeply(digest($run), digest(run(command => [$program, 'raises'])), 'SIGTRAP is ignored from the start: it stays so');
	is_deeply(said($run), [@refused, 'no breakpoint instead: SIGTRAP is not at its default'], '... there are none, and why is said')
		or diag(explain($run->{report}{warnings}));
}
{
	my $trap = POSIX::SigSet->new(SIGTRAP);
	sigprocmask(SIG_BLOCK, $trap);
	my $run = stopped('blocked');
	sigprocmask(SIG_UNBLOCK, $trap);
	is($run->{out}, "1\n", 'SIGTRAP is blocked from the start: it stays so');
	is_deeply(said($run), [@refused, 'no breakpoint instead: SIGTRAP is blocked'], '... there are none, and why is said');
}
SKIP: {
	skip 'no gdb here', 2 unless which('gdb');
	my $run = stopped('known', under => [qw(gdb -q -batch -ex run --args)]);
	unlike($run->{out}, qr/received signal/, 'under gdb nothing stops');
	is_deeply([map { said($_) } $run], [[@refused, 'no breakpoint instead: a debugger is attached']], '... there are none, and why is said')
		or diag(explain($run));
}
done_testing();
