#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_REGIONS=func:NAME where the kernel counts: entries are patched at run time.
# Calls and page faults are those that a program is known to have, and nothing that it
# does is changed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'functions are patched on x86-64 only') unless `uname -m` =~ /x86_64/;
plan(skip_all => 'the kernel counts no page faults here') unless can_count('software');

my $source = write_file(scratch('known.cc'), <<'CC');
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>
#define F extern "C" __attribute__((noinline, noclone))
volatile long sink;
static std::jmp_buf back;
F long many(long n) { sink += n; return n ^ sink; }
F long deep(long n) { long r = n ? deep(n - 1) + 1 : 0; sink += r; return r; }
F void touch(char *p, long n) { for (long i = 0; i < n; i++) p[i * 4096] = 1; }
F void inner_jump(int n) { if (n) inner_jump(n - 1); else std::longjmp(back, 1); sink++; }
F void outer_jump() { if (!setjmp(back)) inner_jump(3); sink++; }
F void cleanup() { sink++; }
struct Cleanup { ~Cleanup() { cleanup(); } };
F void thrower(int n) { Cleanup c; if (n) thrower(n - 1); else throw std::string("x"); sink++; }
F void catcher() { try { thrower(3); } catch (std::string &) { sink++; } sink++; }
F void caught(char *p, long n) { try { thrower(3); } catch (std::string &) { } for (long i = 0; i < n; i++) p[i * 4096] = 1; }
F void cancelled() { Cleanup c; pthread_exit(nullptr); }
F double floats(double a, float b, long double c) { sink++; return a + b + (double)c; }
F long double wide(long double a) { sink++; return a * 2; }
struct Big { long v[10]; };
F Big big(int n) { Big x; for (int i = 0; i < 10; i++) x.v[i] = n + i; sink++; return x; }
F int variadic(const char *f, ...) { va_list l; va_start(l, f); int r = (int)va_arg(l, double); va_end(l); sink++; return r; }
static ucontext_t main_context, other_context;
F void resumed(int n) { sink += n; if (n) swapcontext(&other_context, &main_context); sink++; }
static void coroutine() { for (int i = 0; i < 3; i++) resumed(i); }
static char stack[1 << 16];
int main(int argc, char **)
{
	for (long i = 0; i < (argc > 1 ? 1 : 1 << 20); i++)
		many(i);
	std::printf("%ld %ld\n", deep(100), deep(100000));
	char *p = (char *)mmap(nullptr, 4096 * 400, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, 4096 * 400, MADV_NOHUGEPAGE);
	touch(p, 0);
	touch(p, 100);
	touch(p + 4096 * 100, 200);
	caught(p, 0);
	caught(p + 4096 * 300, 100);
	for (int i = 0; i < 1000; i++) {
		outer_jump();
		catcher();
	}
	std::vector<std::thread> threads;
	for (int i = 0; i < 8; i++)
		threads.emplace_back([] { for (int i = 0; i < 10000; i++) many(i); catcher(); cancelled(); });
	for (auto &thread : threads)
		thread.join();
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	other_context.uc_link = &main_context;
	makecontext(&other_context, coroutine, 0);
	for (int i = 0; i < 3; i++) {
		swapcontext(&main_context, &other_context);
		many(1);
	}
	std::printf("%g %g %ld %d\n", floats(1.5, 2.5f, 3.5L), (double)wide(2.25L), big(3).v[9], variadic("x", 3.0));
}
CC
my ($pie, $fixed) = map { scratch($_) } qw(pie fixed);
is(system('g++', '-std=c++14', '-O2', '-pie', '-fPIE', '-o', $pie, $source, '-pthread'), 0, 'a program that is loaded anywhere');
is(system('g++', '-std=c++14', '-O1', '-no-pie', '-fno-pie', '-fcf-protection', '-o', $fixed, $source, '-pthread'), 0,
	'and one at a fixed place, with marked entries (endbr64)');

sub patched
{
	my ($patterns, $command, %more) = @_;
	return peek(engine => 'perf', events => 'page-faults', command => $command, %more,
		env => {CACHEPEEK_REGIONS => join(',', map { "func:$_" } @$patterns), %{$more{env} || {}}});
}

# PATH => calls
sub calls
{
	my ($report) = @_;
	return {map { join('/', @{$_->{path}}) => $_->{calls} } grep { @{$_->{path}} } @{$report->{regions}}};
}

# ---- what is known ----

for ([$pie], [$fixed, 'short']) {
	my @command = @$_;
	my $name = $command[0] =~ s{.*/}{}r;
	my $plain = run(command => \@command);
	my $run = patched([qw(many touch *_jump thrower catcher caught cleanup floats wide big variadic cancelled resumed)], \@command);
	is($run->{status}, 0, "$name: it ends as without regions");
	is($run->{out}, $plain->{out}, "$name: and its output is the same");
	is_deeply($run->{report}{warnings}, [], "$name: each function is a region") or diag(explain($run->{report}{warnings}));
	my $calls = calls($run->{report});
	is_deeply($calls, {many => (@command > 1 ? 1 : 1 << 20) + 80000 + 1, touch => 3, 'resumed/many' => 2,
		outer_jump => 1000, (map { 'outer_jump' . '/inner_jump' x $_ => 1000 } 1 .. 4),
		catcher => 1008, (map { 'catcher' . '/thrower' x $_ => 1008 } 1 .. 4),
		caught => 2, (map { 'caught' . '/thrower' x $_ => 2 } 1 .. 4),
		(map { $_ => $calls->{$_} } grep { /cleanup/ } keys %$calls),
		floats => 1, wide => 1, big => 1, variadic => 1, cancelled => 8, resumed => 3}, "$name: all calls")
		or diag(explain($calls));
	my %cleanups;
	$cleanups{s{/cleanup$}{}r} = $calls->{$_} for grep { /cleanup/ } keys %$calls;
	is_deeply(\%cleanups, {cancelled => 8, map { ('catcher' . '/thrower' x $_ => 1008, 'caught' . '/thrower' x $_ => 2) } 1 .. 4},
		"$name: what an exception cleans up, where") or diag(explain(\%cleanups));
	is(value(region($run->{report}, 'touch'), 'page-faults'), 300, "$name: and all page faults");
	cmp_ok(value(region($run->{report}, 'caught'), 'page-faults'), '>=', 100, "$name: those of who has caught an exception");
	cmp_ok(value(region($run->{report}, 'caught', 'thrower'), 'page-faults'), '<', 100, "$name: ... are not those of who threw it");
	ok_sums($run->{report}, $name);
}
{
	my $run = patched(['deep'], [$pie, 'short']);
	my $calls = calls($run->{report});
	is_deeply([map { $calls->{join('/', ('deep') x $_)} } 1, 2, 101, 102, 200], [2, 2, 2, 1, 1],
		'recursion, each level on a path of its own');
}

# ---- more that cannot be patched than a line has room for ----

{
	my $asm = scratch('tight.S');
	my $tight = scratch('tight');
	open(my $to, '>', $asm) or die "$asm: $!\n";
	print $to ".text\n", (map { ".globl much_too_short_$_\n.type much_too_short_$_, \@function\nmuch_too_short_$_: ret\n" } 1 .. 60),
		".globl main\n.type main, \@function\nmain: xor %eax, %eax\n ret\n.section .note.GNU-stack,\"\",\@progbits\n";
	close($to);
	is(system('gcc', '-o', $tight, $asm), 0, 'a program of tight functions');
	my $run = patched(['much_too_short_*'], [$tight]);
	my ($count, $names, $more) = "@{$run->{report}{warnings}}" =~
		/func: (\d+) functions are no regions: shorter than a jump, with no room behind: (.*) and (\d+) more$/;
	is_deeply([$count, split(/, /, $names // '') + ($more // 0)], [60, 60], 'none is lost: those without a name in the line are counted')
		or diag(explain($run->{report}{warnings}));
}

# ---- libraries that come later, and go ----

{
	my $library = write_file(scratch('later.c'), <<'C');
volatile int sink;
__attribute__((noinline, noclone)) static void at_once(void) { sink++; }
__attribute__((constructor)) static void constructor(void) { at_once(); }
__attribute__((noinline)) int later(int n) { sink++; return n + 1; }
C
	my $main = write_file(scratch('loads.c'), <<'C');
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(argv[argc - 1], RTLD_NOW);
		int (*later)(int) = (int (*)(int))dlsym(library, "later");
		for (int j = 0; j < 5; j++)
			sum += later(j);
		dlclose(library);
	}
	printf("%d\n", sum);
}
C
	my ($loads, $later) = map { scratch($_) } qw(loads later.so);
	is(system('gcc', '-O2', '-fPIC', '-shared', '-o', $later, $library) + system('gcc', '-O2', '-o', $loads, $main), 0,
		'a library, and a program that loads it');
	my $run = patched([qw(later at_once)], [$loads, $later]);
	is($run->{out}, "45\n", 'it works');
	is_deeply(calls($run->{report}), {at_once => 3, later => 15},
		'all of its calls, its constructor\'s too, each time that it is loaded') or diag(explain(calls($run->{report})));
}

# ---- real programs: 200 functions of each, and what they do is the same ----

sub digest { my ($run) = @_; return {map { $_ => $run->{$_} } qw(status out err)} }

my $text = write_file(scratch('text'), join('', map { "line $_ of " . $_ * 7919 . "\n" } 1 .. 20000));
my $server = write_file(scratch('server.cc'), <<'CC');
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>
#define F __attribute__((noinline))
struct Store {
	std::mutex lock;
	std::map<std::string, std::string> all;
	F void put(const std::string &key, const std::string &value) { std::lock_guard<std::mutex> g(lock); all[key] = value; }
	F std::string get(const std::string &key) { std::lock_guard<std::mutex> g(lock); return all.at(key); }
};
static Store store;
F static std::string answer(const std::string &line)
{
	try {
		size_t at = line.find('=');
		if (at == std::string::npos)
			return store.get(line);
		store.put(line.substr(0, at), line.substr(at + 1));
		return "ok";
	} catch (const std::out_of_range &) {
		return "none";
	}
}
F static void serve(int fd)
{
	char buffer[256];
	ssize_t n;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		std::string out = answer(std::string(buffer, (size_t)n));
		if (write(fd, out.data(), out.size()) < 0)
			return;
	}
}
static std::string ask(int fd, const std::string &line)
{
	char buffer[256];
	if (write(fd, line.data(), line.size()) < 0)
		return "?";
	ssize_t n = read(fd, buffer, sizeof(buffer));
	return std::string(buffer, n > 0 ? (size_t)n : 0);
}
int main()
{
	int pairs[4][2];
	std::vector<std::thread> threads;
	for (auto &pair : pairs) {
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
		threads.emplace_back(serve, pair[1]);
	}
	for (int i = 0; i < 400; i++) {
		int fd = pairs[i % 4][0];
		std::string key = "k" + std::to_string(i % 50);
		std::printf("%s %s\n", ask(fd, key).c_str(), ask(fd, key + "=" + std::to_string(i)).c_str());
	}
	for (auto &pair : pairs)
		close(pair[0]);
	for (auto &thread : threads)
		thread.join();
}
CC
my $served = scratch('server');
is(system('g++', '-std=c++14', '-O2', '-o', $served, $server, '-pthread'), 0, 'a server in C++');
my @real = (
	['gzip', ['*'], '/bin/gzip', '-c', $text],
	['sqlite3', ['sqlite3*', 'main'], sqlite_command('create table t(a integer primary key, b text); with recursive ' .
		'c(x) as (select 1 union all select x+1 from c where x<3000) insert into t select x, hex(x*2654435761) from c; ' .
		'create index i on t(b); select count(*), min(b), max(b) from t where b > 5;')],
	['python3', ['Py*'], '/usr/bin/python3', '-S', '-c', "import re\ntry:\n 1/0\nexcept ZeroDivisionError: pass\n" .
		'print(sum(len(str(x)) for x in range(3000)), re.sub("a+", "b", "caaat"))'],
	['the server', ['*Store*', 'answer*', 'serve*', 'std::*', 'pthread_*', '_Unwind_*'], $served],
	['bash', ['*'], '/bin/bash', '-c', 'for i in 1 2 3; do (echo $i | tr 1-3 a-c); done; x=$(ls / | head -1); echo $x'],
);
# How many jumps there are in the code of a process that its files do not have.
my $counts = scratch('counts.so');
my $counter = write_file(scratch('counts.c'), <<'C');
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static long jumps(const unsigned char *memory, const unsigned char *file, size_t size)
{
	long n = 0;
	for (size_t i = 0; i < size; i++)
		if (memory[i] != file[i]) {
			n += memory[i] == 0xe9;
			i += 4;
		}
	return n;
}
static int add(struct dl_phdr_info *object, size_t size, void *sum)
{
	const char *path = *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
	int fd = open(path, O_RDONLY);
	struct stat about;
	const unsigned char *file;
	if (fd < 0 || fstat(fd, &about) < 0)
		return 0;
	file = mmap(0, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	for (int i = 0; file != MAP_FAILED && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type == PT_LOAD && part->p_flags & PF_X)
			*(long *)sum += jumps((void *)(object->dlpi_addr + part->p_vaddr), file + part->p_offset, part->p_filesz);
	}
	close(fd);
	return 0;
}
__attribute__((destructor)) static void count(void)
{
	const char *name = getenv("COUNTED_JUMPS");
	FILE *out = name ? fopen(name, "w") : 0;
	long n = 0;
	dl_iterate_phdr(add, &n);
	if (out) {
		fprintf(out, "%ld", n);
		fclose(out);
	}
}
C
is(system('gcc', '-O2', '-fPIC', '-shared', '-o', $counts, $counter), 0, 'who counts patches');

my %least = (gzip => 200, sqlite3 => 200, python3 => 200, 'the server' => 200);
for (@real) {
	my ($name, $patterns, @command) = @$_;
	SKIP: {
		skip "no $command[0] here", 3 unless -x $command[0];
		my $plain = run(command => \@command);
		my $file = scratch('jumps');
		my $run = patched($patterns, \@command, preload => lib() . ":$counts", env => {COUNTED_JUMPS => $file});
		my $patches = read_file($file) // 0;
		unlink($file);
		cmp_ok($patches, '>=', $least{$name} // 100, "$name: $patches functions are patched");
		is_deeply(digest($run), digest($plain), "$name: output and status are the same");
		my %functions = map { ($_->{path}[-1] // '') => 1 } @{$run->{report}{regions}};
		cmp_ok(scalar(keys %functions), '>', $name eq 'the server' ? 30 : 5, "$name: with regions");
	}
}

# ---- what calls cost ----

for my $case (['page-faults', 0], ['page-faults,perf::TASK-CLOCK', 1]) {
	my ($events, $said) = @$case;
	my $run = patched(['touch'], [$pie, 'short'], events => $events);
	my @lines = grep { /^CACHEPEEK_REGIONS=func: a call counts some of the work of beginning and ending its region/ } @{$run->{report}{warnings}};
	is(scalar @lines, $said, "$events: " . ($said ? 'our own work is in there, and that is said' : 'none of our own work is in there'));
}

# ---- what cannot be ----

{
	my $stripped = scratch('stripped');
	my ($address) = `nm $pie` =~ /^0*([0-9a-f]+) T touch$/m;
	system('strip', '-o', $stripped, $pie);
	my $run = patched(["stripped+0x$address"], [$stripped, 'short']);
	is_deeply(calls($run->{report}), {"stripped+0x$address" => 3}, 'a stripped program: by address');
	$run = patched(['touch', 'nobody*'], [$stripped, 'short']);
	is_deeply(calls($run->{report}), {}, 'not by name');
	is_deeply($run->{report}{warnings}, [map { "CACHEPEEK_REGIONS=func:$_: no function has that name" } qw(touch nobody*)],
		'and that is said') or diag(explain($run->{report}{warnings}));
}
{
	# The symbol table, and its names, at places that are not in the file.
	my $bytes = read_file($pie);
	my $at = unpack('Q<', substr($bytes, 40, 8));
	my ($size, $count) = unpack('S<2', substr($bytes, 58, 4));
	for my $i (0 .. $count - 1) {
		my $type = unpack('L<', substr($bytes, $at + $i * $size + 4, 4));
		substr($bytes, $at + $i * $size + 24, 8) = pack('Q<', 0x7ffffff0) if $type == 2 || $type == 11;
	}
	my $broken = write_file(scratch('broken'), $bytes);
	chmod(0755, $broken);
	my $run = patched(['touch'], [$broken, 'short']);
	is($run->{status}, 0, 'a file whose symbol tables are broken runs');
	is_deeply($run->{report}{warnings}, ['CACHEPEEK_REGIONS=func:touch: no function has that name'], 'and has no such function');
}
for (['names', 0, 'L<', 0x7fffffff], ['places', 8, 'Q<', 0x7ffffff0], ['places, by far', 8, 'Q<', ~0], ['sizes', 16, 'Q<', ~0]) {
	# All symbols, of both tables.
	my ($what, $offset, $format, $value) = @$_;
	my $bytes = read_file($pie);
	my $at = unpack('Q<', substr($bytes, 40, 8));
	my ($size, $count) = unpack('S<2', substr($bytes, 58, 4));
	for my $i (0 .. $count - 1) {
		my ($type, $first, $length) = unpack('x4 L< x16 Q<2', substr($bytes, $at + $i * $size, $size));
		next unless $type == 2;
		substr($bytes, $first + $_ * 24 + $offset, length(pack($format, 0))) = pack($format, $value) for 1 .. $length / 24 - 1;
	}
	my $broken = write_file(scratch('broken'), $bytes);
	chmod(0755, $broken);
	my $run = patched(['touch', 'big'], [$broken, 'short']);
	is($run->{out}, run(command => [$pie, 'short'])->{out}, "symbols with broken $what: it runs as before");
	# Without its size a function begins at a breakpoint, where those stop.
	is_deeply([$run->{status}, calls($run->{report})->{touch}], [0, $what eq 'sizes' && can_count('stop') ? 3 : undef], '... with what is known for sure')
		or diag(explain($run->{report}{warnings}));
}
{
	# Writing to code is forbidden in both ways.
	my $guard = write_file(scratch('guard.c'), <<'C');
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define SAY(what) BPF_STMT(BPF_RET | BPF_K, what)
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
		SAY(SECCOMP_RET_ERRNO | EACCES),
		SAY(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	execv(argv[1], argv + 1);
	return 1;
}
C
	my $forbids = scratch('guard');
	is(system('gcc', '-o', $forbids, $guard), 0, 'a filter of seccomp');
	# Found by a wildcard: what is named has a breakpoint then.
	my $run = patched(['touc*', 'bi?'], [$pie, 'short'], under => [$forbids, '/usr/bin/env']);
	is($run->{status}, 0, 'a program whose code nobody can change runs');
	is_deeply([grep { /func:/ } @{$run->{report}{warnings}}],
		['CACHEPEEK_REGIONS=func: 2 functions are no regions: the kernel lets nobody change the code: touch, big'],
		'and why there are no regions is said') or diag(explain($run->{report}{warnings}));
	SKIP: {
		skip 'no breakpoints stop here', 3 unless can_count('stop');
		$run = patched([qw(touch big thrower)], [$pie, 'short'], under => [$forbids, '/usr/bin/env']);
		is($run->{out}, run(command => [$pie, 'short'])->{out}, '... nor what is named, which begins at breakpoints: its output is the same');
		is_deeply(calls($run->{report}), {touch => 3, big => 1, map { join('/', ('thrower') x $_) => 1010 } 1 .. 4}, '... all calls are counted');
		is(value(region($run->{report}, 'touch'), 'page-faults'), 300, '... and all page faults');
	}
}
{
	my $run = patched([qw(setjmp _setjmp memchr)], [$pie, 'short']);
	my ($line) = grep { /returns twice/ } @{$run->{report}{warnings}};
	like($line // '', qr/it returns twice, or needs to know who called it: .*setjmp/, 'what returns twice is left alone');
}

done_testing();
