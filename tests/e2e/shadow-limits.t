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

# ---- what a shadow cannot execute ----

my $save = compiled('save', <<'C');
#include <cpuid.h>
#include <sys/resource.h>
static char area[16384] __attribute__((aligned(64)));
int main(void)
{
	unsigned a, b, c, d;
	struct rusage usage;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 2))
		return 77;
	do {
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile("xsavec %0" : "+m"(area) : "a"(3), "d"(0));
		getrusage(RUSAGE_SELF, &usage);
	} while (usage.ru_utime.tv_sec < 1);
	return 0;
}
C
SKIP: {
	skip('this processor has no XSAVEC', 3) if plain(command => [$save])->{status} == 77 << 8;
	my $run = peek(engine => 'shadow', command => [$save]);
	is($run->{status}, 0, 'XSAVEC: it runs');
	like(said($run), qr/windows met an instruction that libVEX does not know \(the last: 15, [0-9a-f]+\)/, 'XSAVEC: its windows are lost, for that reason');
	like(region($run->{report})->{counts}{instructions}{reason}, qr/^fewer than 10 windows.*CACHEPEEK_ENGINE=sim counts all/, 'XSAVEC: no estimate, and what to do');
}

# ---- what a shadow has the processor execute ----

# Where it goes depends on zmm16 to zmm18 and a mask.  One of 16 instructions loads; roots
# make a turn last for some time.
my $wide = compiled('wide', <<'C');
#include <sys/resource.h>
int main(void)
{
	static const long most[8] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
	static const long one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	static char lines[64 * 4096] __attribute__((aligned(64)));
	struct rusage usage;
	unsigned long trace = 1, turns, at;
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
	} while (usage.ru_utime.tv_sec < 4);
	return trace == 0;
}
C
SKIP: {
	skip('no AVX-512, or the build has no table of encodings', 5) if !-e build() . '/sim/native_table.c' || plain(command => [$wide])->{status} == 77 << 8;
	my $run;
	for my $budget (20, 60) {
		$run = peek(engine => 'shadow', command => [$wide], env => {CACHEPEEK_BUDGET => $budget, CACHEPEEK_EVENTS => 'instructions,l1d_accesses,l1d_misses'});
		last if defined region($run->{report})->{counts}{instructions}{value};
	}
	is($run->{status}, 0, 'AVX-512: it runs');
	my ($counted, $lost) = said($run) =~ /(\d+) windows are counted, [^;]*; (\d+) are lost/;
	cmp_ok($counted, '>=', 10, 'AVX-512: windows are counted') or diag(said($run));
	# A busy machine makes some late; with other registers all were, and none counted.
	my ($late, $said) = (0, said($run));
	$late += $1 while $said =~ /(\d+) windows (?:did not get there in time|were killed)/g;
	cmp_ok($lost - $late, '<=', 0.1 * $counted + 1, 'AVX-512: and nearly all: registers and masks are taken over') or diag(said($run));
	my $counts = region($run->{report})->{counts};
	cmp_ok(abs($counts->{l1d_accesses}{value} / ($counts->{instructions}{value} || 1) - 1 / 16), '<', 0.0005, 'AVX-512: one of 16 instructions loads') or diag(explain($counts));
	cmp_ok(abs($counts->{l1d_misses}{value} / ($counts->{l1d_accesses}{value} || 1) - 1), '<', 0.02, 'AVX-512: and misses L1D');
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
