#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CACHEPEEK_ENGINE=shadow where there can be no shadows: one line says why and what to do, the
# next best engine counts, and the program is as it is without.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use File::Copy;
use Peek;
use Test::More;

plan(skip_all => why_not('shadow')) if why_not('shadow');

my @program = (program('walk'), 20);
my $plain = plain(command => \@program);

# The lines that name the engine, in what is said and in the report.
sub said
{
	my ($run) = @_;
	return join("\n", @{$run->{notes}}, $run->{report}{engine}{why} // '', map { ref($_) ? $_->{text} // '' : $_ } @{$run->{report}{warnings}});
}

sub ok_refused
{
	my ($what, $line, @more) = @_;
	my $run = peek(engine => 'shadow', command => \@program, @more);
	is($run->{out}, $plain->{out}, "$what: the same output");
	is($run->{status}, $plain->{status}, "$what: the same status");
	like(said($run), $line, "$what: the reason and the cure");
	unlike(said($run), qr/windows are counted|from forks of the program/, "$what: there are no shadows");
	my $whole = region($run->{report});
	ok($whole && grep({ defined $_->{value} } values %{$whole->{counts}}), "$what: and another engine counts");
	return $run;
}

# A busy machine makes some windows late, and some shadows go past places before the program has posted
# them; where registers differ all are lost.
sub ok_most
{
	my ($run, $what) = @_;
	my ($said, $late) = (said($run), 0);
	my ($counted, $lost) = $said =~ /(\d+) windows are counted, [^;]*; (\d+) are lost/;
	cmp_ok($counted, '>=', 10, "$what: windows are counted") or diag($said);
	$late += $1 while $said =~ /(\d+) windows (?:did not get there in time|were killed)/g;
	cmp_ok($lost - $late, '<=', $counted, "$what: and most") or diag($said);
}

sub compiled
{
	my ($name, $code, @flags) = @_;
	my $program = scratch($name);
	system('gcc', '-O1', @flags, '-o', $program, write_file(scratch("$name.c"), $code)) == 0 or die("$name does not compile\n");
	return $program;
}

# ---- what is missing, or forbidden ----

my $elsewhere = scratch('elsewhere');
mkdir($elsewhere);
system('cp', '-r', lib(), build() . '/libcachepeek', "$elsewhere/") == 0 or die("cannot copy the library\n");
unlink("$elsewhere/libcachepeek/shadow.so");
ok_refused('built without libVEX', qr/shadow\.so is not beside the library.*install valgrind/, preload => "$elsewhere/libcachepeek.so");

ok_refused('one CPU', qr/no spare core.*allow it two/, under => ['taskset', '-c', '0']);
ok_refused('a limit of address space', qr/400 MiB of the address space.*raise `ulimit -v`/, under => ['sh', '-c', 'ulimit -v 8000000; exec "$@"', 'sh']);
ok_refused('a limit of processes', qr/raise `ulimit -u`/, under => ['sh', '-c', 'ulimit -u 200; exec "$@"', 'sh'])
	if run(command => ['sh', '-c', 'ulimit -u 200'])->{status} == 0;

# PR_SET_MDWE is of Linux 6.3.
my $strict = compiled('strict', "#include <sys/prctl.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n" .
	"{\n\tif (prctl(65, 1, 0, 0, 0) != 0)\n\t\treturn 99;\n\treturn argc > 1 && execvp(argv[1], argv + 1);\n}\n");
SKIP: {
	skip('this kernel does not forbid memory that is writable and executable', 9) if run(command => [$strict])->{status} != 0;
	ok_refused('no writable code', qr/both writable and executable: allow it \(systemd: MemoryDenyWriteExecute=no/, under => [$strict]);
	for my $engine ('auto', 'sim') {
		my $run = peek(engine => $engine, command => \@program, under => [$strict]);
		is($run->{out}, $plain->{out}, "no writable code, $engine: the program runs");
		like(said($run), qr/both writable and executable|^hardware counters/m, "no writable code, $engine: and a line says why it is not simulated");
	}
}

# Filters of system calls: one that answers fork with an error, and one as systemd has it for
# MemoryDenyWriteExecute=yes on older kernels.
SKIP: {
	my @deny = (program('deny'), 56, '--');  # clone
	skip('this kernel takes no filter', 10) if run(command => [@deny, 'true'])->{status} != 0;
	ok_refused('no fork', qr/refuses a fork of the program \(operation not permitted\): allow clone and wait4 \(a filter of system calls, seccomp\)/, under => \@deny);
	my $filter = compiled('filter', <<'C');
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
		LOAD(args[2]), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 99;
	return argc > 1 && execvp(argv[1], argv + 1);
}
C
	ok_refused('a filter of writable code', qr/both writable and executable: allow it \(systemd: MemoryDenyWriteExecute=no/, under => [$filter]);
}

# A machine without memory, of which only the kernel can tell.
my $meminfo = write_file(scratch('meminfo'), "MemTotal:       1000000 kB\nMemFree:           20000 kB\nMemAvailable:      60000 kB\n");
my @poor = ('unshare', '-m', 'sh', '-c', 'mount --bind "$0" /proc/meminfo && exec "$@"', $meminfo);
SKIP: {
	skip('no mount here', 4) if run(command => [@poor, 'true'])->{status} != 0;
	my $run = peek(engine => 'shadow', command => [program('shadow_regions'), 600], under => \@poor, env => {CACHEPEEK_BUDGET => 20});
	is($run->{status}, 0, 'memory is short: the program runs');
	like(said($run), qr/\d+ windows were left out, as memory was short: a shadow may take \d+ MiB, and the machine had less left \(give it more, or CACHEPEEK_ENGINE=sim\)/,
		'memory is short: one line with reason and cure');
	like(said($run), qr/^[^\n]*: 0 windows are counted/m, 'memory is short: no shadow is forked');
	like(region($run->{report})->{counts}{instructions}{reason}, qr/^fewer than 10 windows/, 'memory is short: no value');
}

# A program that writes to much memory, here and there, has pages copied in each slice.  It
# is a known number of instructions.
{
	my $much = compiled('much', <<'C');
#include <stdlib.h>
int main(int argc, char **argv)
{
	unsigned long r = 1, pages = strtoul(argv[1], 0, 0), k;
	volatile char *memory = malloc(pages << 12);
	for (long n = atol(argv[2]); n > 0; n--) {
		k = 500;
		__asm__ volatile("1:\n\t.rept 16\n\tadd $3, %1\n\t.endr\n\tdec %0\n\tjnz 1b" : "+r"(k), "+r"(r) : : "cc");
		r = r * 6364136223846793005u + 1442695040888963407u;
		memory[(r >> 33) % pages << 12] = 1;
	}
	return argc > 9;
}
C
	my ($counts, $run);
	for my $times (1, 2, 4) {
		$run = peek(engine => 'shadow', command => [$much, 20000, 1000000 * $times], env => {CACHEPEEK_BUDGET => 40, CACHEPEEK_EVENTS => 'instructions'});
		$counts = region($run->{report})->{counts}{instructions};
		$counts->{truth} = 1000000 * (500 * 18 + 15) * $times;
		last if defined $counts->{value};
	}
	like(said($run), qr/copies of pages, which a fork makes, took (?:[5-9]|\d\d) % of the time of windows: it is known to a fifth/, 'much memory: that copies are in windows is said');
	SKIP: {
		skip('the machine has too much else to do', 1) if !defined $counts->{value};
		cmp_ok(abs($counts->{value} - $counts->{truth}), '<=', 2 * $counts->{error}, 'much memory: the count is known') or diag(explain($counts));
	}
	$run = peek(engine => 'shadow', command => [program('shadow_chase'), 800], env => {CACHEPEEK_BUDGET => 40});
	unlike(said($run), qr/copies of pages, which a fork makes, took/, 'little memory: nothing is said of them');
}

# ---- what a shadow cannot execute ----

my $flags = compiled('flags', <<'C');
#include <sys/resource.h>
int main(void)
{
	struct rusage usage;
	do {
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile("pushfw\n\tpopfw" ::: "memory", "cc");
		getrusage(RUSAGE_SELF, &usage);
	} while (usage.ru_utime.tv_sec < 1);
	return 0;
}
C
{
	my $run = peek(engine => 'shadow', command => [$flags]);
	is($run->{status}, 0, 'flags of 16 bits: it runs');
	like(said($run), qr/windows met an instruction that libVEX does not know \(the last: 102, [0-9a-f]+\)/, 'flags of 16 bits: its windows are lost, for that reason');
	like(region($run->{report})->{counts}{instructions}{reason}, qr/^fewer than 10 windows.*CACHEPEEK_ENGINE=sim counts all/, 'flags of 16 bits: no estimate, and what to do');
}

# ---- what a shadow has the processor execute ----

# Where it goes depends on zmm16 to zmm18 and a mask.  One of 16 instructions loads; roots
# make a turn last for some time.
my $wide = compiled('wide', <<'C');
#include <stdlib.h>
#include <sys/resource.h>
int main(void)
{
	static const long most[8] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
	static const long one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	static char lines[64 * 4096] __attribute__((aligned(64)));
	struct rusage usage;
	unsigned long trace = 1, turns, at;
	long seconds = atol(getenv("SECONDS"));
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
		return 77;
	__asm__ volatile("vmovdqu64 %0, %%zmm17\n\tvmovdqu64 %1, %%zmm18\n\tvpxorq %%zmm16, %%zmm16, %%zmm16" :: "m"(one), "m"(most));
	do {
		turns = 1000000 * 64;
		__asm__ volatile(
			"1: vpaddq %%zmm17, %%zmm16, %%zmm16\n\tvpcmpuq $1, %%zmm18, %%zmm16, %%k1\n\tkmovb %%k1, %%eax\n\t"
			"mov %1, %2\n\tand $262080, %2\n\tvmovdqu64 (%3,%2), %%zmm1\n\t"
			".rept 6\n\tvsqrtpd %%zmm19, %%zmm19\n\t.endr\n\tcmp $255, %%eax\n\tjne 2f\n\t"
			"3: sub $64, %1\n\tjnz 1b\n\tjmp 4f\n\t"
			"2: vpxorq %%zmm16, %%zmm16, %%zmm16\n\timul $31, %0\n\tadd %1, %0\n\tjmp 3b\n\t4:"
			: "+r"(trace), "+r"(turns), "=&r"(at) : "r"(lines) : "eax", "memory", "cc");
		getrusage(RUSAGE_SELF, &usage);
	} while (usage.ru_utime.tv_sec < seconds);
	return trace == 0;
}
C
SKIP: {
	skip('no AVX-512, or the build has no table of encodings', 5) if !-e build() . '/sim/native_table.c' || plain(command => [$wide], env => {SECONDS => 0})->{status} == 77 << 8;
	my $run;
	for my $seconds (2, 4, 8, 20) {
		$run = peek(engine => 'shadow', command => [$wide], env => {SECONDS => $seconds, CACHEPEEK_BUDGET => 60, CACHEPEEK_EVENTS => 'instructions,l1d_accesses,l1d_misses'});
		last if defined region($run->{report})->{counts}{instructions}{value};
	}
	is($run->{status}, 0, 'AVX-512: it runs');
	ok_most($run, 'AVX-512: registers and masks are taken over');
	my $counts = region($run->{report})->{counts};
	cmp_ok(abs($counts->{l1d_accesses}{value} / ($counts->{instructions}{value} || 1) - 1 / 16), '<', 0.0005, 'AVX-512: one of 16 instructions loads') or diag(explain($counts));
	cmp_ok(abs($counts->{l1d_misses}{value} / ($counts->{l1d_accesses}{value} || 1) - 1), '<', 0.02, 'AVX-512: and misses L1D');
}

# Where it goes depends on what comes back: a number in each kind of register, which adds up,
# is stored, lost, and restored.  XSAVEC is what the dynamic linker chooses, XSAVE on older processors.
my $save = compiled('save', <<'C');
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
static char area[16384] __attribute__((aligned(64)));
static long out[8] __attribute__((aligned(64)));
#define ROUND(save, add, lose, take) __asm__ volatile(add "\n\t" save " %0\n\t" lose "\n\txrstor %0\n\t" take \
	: "+m"(area), "+m"(out) : "a"(0xee), "d"(0), "r"(1l), "r"(out) : "memory", "xmm0", "xmm1", "xmm2")
#define ADD "vmovq %4, %%xmm2\n\tvpaddq %%ymm2, %%ymm0, %%ymm0\n\tvinserti128 $1, %%xmm0, %%ymm0, %%ymm0"
#define ADD_WIDE ADD "\n\tvpaddq %%zmm0, %%zmm17, %%zmm17\n\tvinserti64x4 $1, %%ymm0, %%zmm1, %%zmm1\n\tkmovq %4, %%k1"
#define TAKE "vmovdqu %%ymm0, (%5)"
#define TAKE_WIDE "vextracti64x4 $1, %%zmm1, (%5)\n\tvmovq %%xmm17, 32(%5)\n\tkmovq %%k1, 40(%5)"
#define LOSE "vpxor %%xmm0, %%xmm0, %%xmm0"
#define LOSE_WIDE LOSE "\n\tvpxor %%xmm1, %%xmm1, %%xmm1\n\tvpxorq %%zmm17, %%zmm17, %%zmm17\n\tkxorq %%k1, %%k1, %%k1"
int main(int argc, char **argv)
{
	unsigned a, b, c, d;
	unsigned long trace = 1, sum = 0;
	long seconds = atol(getenv("SECONDS"));
	struct rusage usage;
	int compact = argc > 1 && strcmp(argv[1], "xsavec") == 0, wide = argc > 2;
	__builtin_cpu_init();
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__builtin_cpu_supports("avx2") ||
		(compact && (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 2))) || (wide && !__builtin_cpu_supports("avx512bw")))
		return 77;
	__asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0" ::: "xmm0");
	if (wide)
		__asm__ volatile("vpxorq %zmm17, %zmm17, %zmm17");
	do {
		for (int i = 0; i < 200000; i++) {
			if (wide && compact)
				ROUND("xsavec", ADD_WIDE, LOSE_WIDE, TAKE_WIDE);
			else if (wide)
				ROUND("xsave", ADD_WIDE, LOSE_WIDE, TAKE_WIDE);
			else if (compact)
				ROUND("xsavec", ADD, LOSE, TAKE);
			else
				ROUND("xsave", ADD, LOSE, TAKE);
			sum = wide ? out[0] + out[2] + out[4] + out[5] : out[0] + out[2];
			if (sum % 7 == 3)
				trace = trace * 31 + sum;
			for (int k = 0; k < 300; k++)
				trace = trace * 6364136223846793005u + 1;
		}
		getrusage(RUSAGE_SELF, &usage);
	} while (usage.ru_utime.tv_sec < seconds);
	return trace == 0 || sum == 0;
}
C
for my $how (['xsave'], ['xsavec'], ['xsave', 'wide'], ['xsavec', 'wide']) {
	SKIP: {
		skip("@$how: not on this processor, or in this build", 3) if !-e build() . '/sim/native_table.c' || plain(command => [$save, @$how], env => {SECONDS => 0})->{status} == 77 << 8;
		my $run;
		for my $seconds (2, 4, 8, 20) {
			$run = peek(engine => 'shadow', command => [$save, @$how], env => {SECONDS => $seconds, CACHEPEEK_BUDGET => 60, CACHEPEEK_EVENTS => 'instructions,l1d_accesses,l1d_misses'});
			last if defined region($run->{report})->{counts}{instructions}{value};
		}
		is($run->{status}, 0, "@$how: it runs");
		ok_most($run, "@$how: what was stored comes back");
	}
}

# ---- what nothing can be loaded into ----

my $run = run(command => [cli(), '-E', 'shadow', program('static')]);
is($run->{status}, plain(command => [program('static')])->{status}, 'a static program runs');
like($run->{err}, qr/\A[^\n]*statically linked: nothing can be preloaded into it[^\n]*-E sim counts the whole run[^\n]*\n\z/, 'and one line says what to do');

# ---- who does not ask ----

for my $engine ('auto', 'perf', 'sim') {
	$run = peek(engine => $engine, command => ['grep', '-c', 'shadow\.so', '/proc/self/maps']);
	is($run->{out}, "0\n", "$engine: nothing of it is loaded");
	unlike(said($run), qr/shadow/, "$engine: and nothing is said of it");
}
done_testing();
