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

my $sha = compiled('sha', <<'C');
#include <cpuid.h>
#include <stdio.h>
#include <sys/resource.h>
int main(void)
{
	unsigned a, b, c, d;
	struct rusage usage;
	unsigned long n = 0;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & 1u << 29))
		return 77;
	do {
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile("sha1msg1 %%xmm1, %%xmm0" ::: "xmm0");
		getrusage(RUSAGE_SELF, &usage);
		n++;
	} while (usage.ru_utime.tv_sec < 1);
	return n == 0;
}
C
SKIP: {
	skip('this processor has no SHA instructions', 3) if plain(command => [$sha])->{status} == 77 << 8;
	my $run = peek(engine => 'shadow', command => [$sha]);
	is($run->{status}, 0, 'SHA instructions: it runs');
	like(said($run), qr/windows met an instruction that libVEX does not know \(the last: 15, [0-9a-f]+\)/, 'SHA instructions: its windows are lost, for that reason');
	like(region($run->{report})->{counts}{instructions}{reason}, qr/^fewer than 10 windows.*CACHEPEEK_ENGINE=sim counts all/, 'SHA instructions: no estimate, and what to do');
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
