#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# CPUID as a program sees it on a machine that names its processor (features in its file):
# libc, which reads the leaves by itself, finds that machine's caches, and chooses code by
# its features.
use strict;
use warnings;
use Config;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan skip_all => 'CPUID is of x86' if $Config{archname} !~ /x86_64/;
plan skip_all => 'the simulator was built without its table of encodings (libzydis-dev)' if !-e '/usr/include/Zydis/Zydis.h';
$ENV{CACHEPEEK_CPU} = 'auto';

# The file's lines, with those of the file that it is like.
sub lines_of
{
	my ($name) = @_;
	my $text = read_file(source() . "/base/machines/$name.machine");
	my %lines = $text =~ /^like = (\S+)/m ? lines_of($1) : ();

	$lines{$1} = $2 while $text =~ /^(\S+) = (.*?)\s*(?:#.*)?$/mg;
	return %lines;
}

sub bytes
{
	my ($number, $unit) = ($_[0] // '') =~ /^(\d+)([KMG]?)/ or return 0;
	return $number * {'' => 1, K => 1 << 10, M => 1 << 20, G => 1 << 30}->{$unit};
}

my $getconf = which('getconf');
my $shown = 0;
for my $machine (map { m{([^/]+)\.machine$} } sort glob(source() . '/base/machines/*.machine')) {
	my %line = lines_of($machine);
	my ($family) = ($line{cpuid} // '') =~ /^\S+ (\d+)/;
	next if !defined $line{features};
	my $run = peek(engine => 'sim', machine => $machine, events => 'instructions', command => [$getconf, '-a']);
	my %told = $run->{out} =~ /^(LEVEL\S+)\s+(\d+)\s*$/mg;
	my %of = (LEVEL1_DCACHE => 'l1d', LEVEL2_CACHE => 'l2', LEVEL3_CACHE => 'llc');

	for my $level (sort keys(%of)) {
		my ($size, $ways, $size_of_line) = split(/ /, $line{$of{$level}});
		my $bytes = bytes($size);

		# AMD tells of a socket's last levels together, which newer libcs do not ask for.
		$bytes *= $line{cores} / ($line{sockets} // 1) / $1
			if $level eq 'LEVEL3_CACHE' && $line{llc} =~ /shared=(\d+)/ && ($told{LEVEL3_CACHE_SIZE} // 0) != $bytes;
		is($told{"${level}_SIZE"} // 0, $bytes, "$machine: libc finds $of{$level}");
		next if !$bytes || ($level eq 'LEVEL3_CACHE' && $line{cpuid} =~ /AMD/);
		is($told{"${level}_ASSOC"}, $ways, "$machine: its ways");
		is($told{"${level}_LINESIZE"}, $size_of_line, "$machine: its line");
	}
	like($run->{report}{engine}{limits}, qr/programs that ask are shown the processor of \Q$machine\E(?:, without |$)/, "$machine: the report says so");
	$shown++;
}
cmp_ok($shown, '>=', 27, 'machines');

# Features that a machine lacks are not offered; those that it has are where this processor executes them.
{
	my ($flags) = read_file('/proc/cpuinfo') =~ /^flags\s*:(.*)/m;
	my $wide = ($flags =~ / avx512bw .*avx512vl/ ? 1 : 0);
	my %offered = map {
		my $run = peek(engine => 'sim', machine => $_, events => 'instructions', command => [program('cpu_features')]);
		$_ => [$run->{out} =~ /avx512f (\d)/, $run->{report}{engine}{limits} =~ /without .*\bavx512f\b/ ? 1 : 0]
	} qw(skylake skylake-sp);

	is_deeply($offered{skylake}, [0, 0], 'skylake has no AVX-512, and lacks none');
	is_deeply($offered{'skylake-sp'}, [$wide, 1 - $wide], 'skylake-sp has it where the host has, or the report says that it lacks it');
}

# Features that neither Valgrind nor any host executes are left out everywhere.
{
	my $run = peek(engine => 'sim', machine => 'sapphire-rapids', events => 'instructions', command => [$getconf, 'PAGE_SIZE']);
	like($run->{report}{engine}{limits}, qr/the processor of sapphire-rapids, without .*\bamx_tile\b/, 'tiles are left out');
}

# CPUID tells of the changed machine, and not of the file's.
{
	my $run = peek(engine => 'sim', machine => 'skylake', events => 'instructions', command => [$getconf, 'LEVEL3_CACHE_SIZE'], env => {CACHEPEEK_WHAT_IF => 'L3.size=4M'});
	is($run->{out} + 0, 4 << 20, 'a changed machine shows its changed caches');
}

# A machine of one's own.
{
	my $file = write_file(scratch('own.machine'), "like = zen4\nllc = 64M 16 64 exclusive\n");
	my $run = peek(engine => 'sim', machine => $file, events => 'instructions', command => [$getconf, 'LEVEL3_CACHE_SIZE']);
	is($run->{out} + 0, 64 << 20, 'one of your own that is like zen4 is shown, too');
}

done_testing;
