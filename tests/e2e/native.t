#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs built for this machine, whatever it has, under plain LD_PRELOAD on the simulated
# PMU; and those that ask the CPU what it has.
use strict;
use warnings;
use Config;
use File::Basename qw(basename);
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'instructions of x86-64') if `uname -m` !~ /x86_64/;

# ---- built with -march=native ----

my $kernels = scratch() . '/kernels';
SKIP: {
	my $error = `gcc -O3 -w -ffast-math -march=native -mprefer-vector-width=512 -o $kernels ${\ source()}/tests/sim/native/kernels.c -lm 2>&1`;
	skip("gcc does not build it: $error", 4) if $?;
	my $natively = run(command => [$kernels]);
	my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions,l1d_accesses', command => [$kernels]);

	is(status_text($run->{status}), 'exit 0', 'ends well');
	is($run->{out}, $natively->{out}, 'its output is what it is natively');
	cmp_ok(value(region($run->{report}), 'l1d_accesses') // 0, '>', 10000, 'and it is counted');
	is_deeply([grep { /SIGILL/ } @{$run->{report}{warnings}}], [], 'without complaint');
}

# ---- what nobody executes ----

{
	my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions', command => [program('undefined')]);

	is(status_text($run->{status}), 'signal 4', 'ud2 ends the program');
	like(join("\n", @{$run->{report}{warnings}}), qr/ended with SIGILL of 0f 0b [0-9a-f ]+ at \S*undefined\+0x\w+: .*Use a program built for less/,
		'and the report says which instruction, where, and what to do');
}

{
	my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions', command => [program('undefined'), 'wide']);

	is(status_text($run->{status}), 'signal 4', 'an EVEX instruction that does not exist ends the program');
	like(join("\n", @{$run->{report}{warnings}}), qr/SIGILL of 62 f7 [0-9a-f ]+\(AVX-512\) at /, 'and the report says of which set it is');
}

# ---- of every processor, and refused ----

my ($flags) = read_file('/proc/cpuinfo') =~ /^flags\s*:(.*)/m;

# A program with these bytes in it, which it executes if it has an argument.
sub foreign
{
	my ($bytes) = @_;
	my $program = scratch('foreign-' . $bytes =~ tr/ //dr);
	my $code = join(',', map { "0x$_" } split(/ /, $bytes));

	system('gcc', '-O1', '-w', "-DCODE=$code", '-o', $program, source() . '/tests/programs/foreign.c') == 0 or die "$bytes: $?";
	return $program;
}

my %set = ('0f c7 27' => '(XSAVEC) ');
for my $bytes ('df 27', '66 d9 27', '0f c7 27', '66 0f c8', '66 9c', '66 c9', '8e d8') {
	my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions', command => [foreign($bytes), 'run']);

	is($run->{out} . status_text($run->{status}), 'signal 4', "$bytes is not executed");
	like(join("\n", @{$run->{report}{warnings}}), qr/ended with SIGILL of $bytes [0-9a-f ]+\Q${\ ($set{$bytes} || '')}\Eat .*: .*Use a program built for less, or CACHEPEEK_ENGINE=perf/,
		'and the report says which it is, where, and what to do');
}
{
	my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions', command => [foreign('0f c7 27')]);

	is($run->{out} . status_text($run->{status}), "done\nexit 0", 'one that is never reached matters to nobody');
	is(join("\n", @{$run->{notes}}, @{$run->{report}{warnings}}), '', 'and nothing is said');
}

# ---- CACHEPEEK_CPU ----

my ($vendor) = read_file('/proc/cpuinfo') =~ /^vendor_id\s*: (.*)/m;

sub shown
{
	my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions',
		command => [program('cpu_features')], env => {@_});
	return split(/\n/, $run->{out});
}

my $perf = peek(engine => 'perf', command => [program('empty')], env => {CACHEPEEK_CPU => 'host'});
like("@{$perf->{notes}}", qr/CACHEPEEK_CPU is ignored: it takes the simulated PMU/, 'not with kernel counters: it says so');
my @valgrind = shown();
is($valgrind[1], 'avx512f 0', 'a program is not shown AVX-512');
SKIP: {
	skip('this machine has no AVX-512', 7) if ($flags // '') !~ / avx512bw .*avx512vl/;
	skip('the simulator was built without its table of encodings (libzydis-dev)', 7) if !-e '/usr/include/Zydis/Zydis.h';
	my @host = shown(CACHEPEEK_CPU => 'host');

	is($host[0], $vendor, 'CACHEPEEK_CPU=host: the name is shown');
	is($host[1], 'avx512f 1', 'and AVX-512');
	is($host[2], 'computed 136', 'which is executed');
	for my $command (['dgst', '-sha1'], ['dgst', '-sha256'], ['dgst', '-sha512'],
		['enc', '-aes-256-ctr', '-K', '0f' x 32, '-iv', '1e' x 16, '-in']) {
		my @command = (which('openssl'), @$command, program('empty'));
		my $run = peek(engine => 'sim', machine => 'zen3', events => 'instructions',
			command => \@command, env => {CACHEPEEK_CPU => 'host'});

		is($run->{out}, run(command => \@command)->{out}, "openssl $command->[1]: the same with this machine's instructions");
	}
}

# By itself where this machine is the one that is simulated.
{
	my @alone = split(/\n/, run(command => [program('cpu_features')])->{out});
	my $told = sub {
		my $run = peek(engine => 'sim', events => 'instructions', command => [program('cpu_features')], env => {CACHEPEEK_CPU => 'auto'}, @_);
		return ((split(/\n/, $run->{out}))[0], $run->{report}{engine}{limits} =~ /; programs that ask are (.*)/);
	};
	my @valgrind = ($valgrind[0], 'not shown AVX-512');
	my $x86 = ($Config{archname} =~ /x86_64/);

	is_deeply([$told->()], $x86 ? [$alone[0], "shown this machine's processor"] : \@valgrind, 'this machine shows its processor');
	is_deeply([$told->(env => {CACHEPEEK_CPU => 'auto', CACHEPEEK_REPRODUCIBLE => 1})], \@valgrind, 'a run that is the same anywhere does not');
	is_deeply([$told->(machine => 'cachegrind')], \@valgrind, 'nor does a machine that names none');
	is_deeply([$told->(machine => 'zen3', env => {CACHEPEEK_CPU => 'valgrind'})], \@valgrind, 'nor another one where it is not wanted');
	my @zen3 = $told->(machine => 'zen3');
	is($zen3[0], $x86 ? 'AuthenticAMD' : $valgrind[0], 'a machine shows its own');
	like($zen3[1], $x86 ? qr/^shown the processor of zen3(?:, without [a-z0-9_ ]+)?$/ : qr/^not shown AVX-512$/, 'the report says whose');
	is_deeply([$told->(env => {CACHEPEEK_CPU => 'valgrind'})], \@valgrind, 'nor where it is not wanted');
}

# ---- a program that computes with the x87 unit, which has 64 bits here ----

SKIP: {
	skip('instructions of x86-64', 5) unless $Config{archname} =~ /x86_64/;
	my $warnings = sub {
		return grep { /x87/ } @{peek(events => $_[0] eq 'sim' ? 'instructions' : undef, engine => $_[0], command => $_[1])->{report}{warnings}};
	};
	my $seq = which('seq');

	is(scalar($warnings->('sim', [$seq, qw(0.1 0.1 0.3)])), 1, 'long double: it is said');
	is(scalar($warnings->('sim', [which('echo')])), 0, 'others: nothing to say');
	is(scalar($warnings->('sim', ['/bin/sh', '-c', "$seq 0.1 0.1 0.3; $seq 0.1 0.1 0.3"])), 1, 'of a child, for all');
	like(run(command => [cli(), qw(dcache -E sim), $seq, qw(0.1 0.1 0.3)])->{err}, qr/warning: x87/, 'of a profile, too');
	is(scalar($warnings->('perf', [$seq, qw(0.1 0.1 0.3)])), 0, 'nor where the processor computes');
}

# ---- a program that is marked as needing AVX-512 ----

SKIP: {
	skip('the simulator was built without its table of encodings (libzydis-dev)', 4) if !-e '/usr/include/Zydis/Zydis.h';
	my @command = (engine => 'sim', machine => 'zen3', events => 'instructions', command => [program('marked')]);
	my $marked = peek(@command);
	my $asked = peek(@command, env => {CACHEPEEK_CPU => 'host'});
	my $shown = qr/not shown AVX-512 \(1 marked x86-64-v4 was shown this machine's processor\)/;

	is($marked->{out}, $asked->{out}, 'one marked x86-64-v4 is shown this processor, as with CACHEPEEK_CPU=host');
	is($marked->{out}, run(command => [program('marked')])->{out}, 'as it is alone');
	like($marked->{report}{engine}{limits}, $shown, 'and the report says so');
	unlike($asked->{report}{engine}{limits}, qr/marked/, 'not where it was asked for');
}

# VEX looks for a register's bit in memory below the stack, which may be the program's.
is(peek(engine => 'sim', command => [program('bits_below')])->{out}, run(command => [program('bits_below')])->{out},
	'bt, bts, btr and btc of a register change no memory');

done_testing;
