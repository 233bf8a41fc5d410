#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Lines are right or absent: whatever compiler wrote the debugging information, in whatever
# form, the lines of a profile are those of the code that missed, and annotate tells a file
# whose lines are not known from one without a miss.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd qw(realpath);
use Json;
use Peek;
use Test::More;

my $LINES = 4096;
mkdir(scratch('src'));
my $walk = write_file(scratch('src/walk.cc'), <<"C");
#include "walk.h"
char walked[$LINES][64] __attribute__((aligned(64)));
long walk(void)
{
	long sum = 0;
	for (int i = 0; i < $LINES; i++)
		sum += walked[i][0]; // here
	return sum;
}
C
write_file(scratch('src/walk.h'), "long walk(void);\nstruct only { long here; };\n");
write_file(scratch('src/main.cc'), <<'C');
#include "walk.h"
static char other[64 * 100];
int main(int argc, char **)
{
	only o = {argc};
	for (int i = 0; i < 100; i++)
		other[64 * i] = (char)o.here;
	return walk() == 7;
}
C
my $HERE = 7;

my %made;
sub compiler { my ($name) = @_; return $made{$name} //= which($name) || '' }

# make_program(NAME, COMPILER, FLAGS FOR WALK, FLAGS FOR MAIN): the program, or undef.
sub make_program
{
	my ($name, $cxx, $for_walk, $for_main, @link) = @_;
	return unless compiler($cxx);
	my $at = scratch("built-$name");
	mkdir($at);
	for (['walk', $for_walk], ['main', $for_main]) {
		my ($unit, $flags) = @$_;
		system("cd '$at' && $cxx -O1 -g -fno-vectorize $flags -c -o $unit.o ../src/$unit.cc 2> errors") == 0 or
			system("cd '$at' && $cxx -O1 -g $flags -c -o $unit.o ../src/$unit.cc 2> errors") == 0 or return;
	}
	return system("cd '$at' && $cxx @link -o program walk.o main.o 2> errors") == 0 ? "$at/program" : undef;
}

# Every form for both compilers; 'mixed' has one unit of each, so that .debug_aranges lacks one.
my @forms = (
	['DWARF 4', '-gdwarf-4'], ['DWARF 5', '-gdwarf-5'], ['64-bit DWARF', '-gdwarf64'],
	['split', '-gsplit-dwarf'], ['split DWARF 4', '-gdwarf-4 -gsplit-dwarf'], ['type units', '-fdebug-types-section'],
	['type units of DWARF 4', '-gdwarf-4 -fdebug-types-section'], ['split type units', '-gsplit-dwarf -fdebug-types-section'],
	['zlib', '-gz=zlib'], ['zstd', '-gz=zstd'],
);
my @programs;
for my $cxx (qw(g++ clang++)) {
	push(@programs, ["$cxx, $_->[0]", make_program("$cxx-$_->[0]" =~ s/[^\w+-]/_/gr, $cxx, $_->[1], $_->[1]), $_->[0] ne 'zstd']) for @forms;
	push(@programs, ["$cxx, no .debug_aranges", make_program("$cxx-without", $cxx, $cxx eq 'g++' ? '-gno-pubnames' : '', ''), 1]);
}
if (compiler('g++') && compiler('clang++')) {
	for (['g++', 'clang++'], ['clang++', 'g++']) {
		my ($one, $two) = @$_;
		my ($a, $b) = (make_program("mixed-$one", $one, '', ''), make_program("mixed-$two", $two, '', ''));
		my $to = scratch("mixed-$one-program");
		push(@programs, ["$one and $two", $a && $b && system('g++', '-o', $to, scratch("built-mixed-$one/walk.o"),
			scratch("built-mixed-$two/main.o")) == 0 ? $to : undef, 1]);
	}
}
# Stripped, with the debugging information in a file beside it.
for (['with a build ID', ''], ['without one', '-Wl,--build-id=none']) {
	my ($name, $flag) = @$_;
	my $exe = make_program("link $name" =~ s/ /_/gr, 'g++', '', '', $flag) or next;
	my $ok = system("cd '" . $exe =~ s{/program$}{}r . "' && objcopy --only-keep-debug program program.debug && strip program && " .
		'objcopy --add-gnu-debuglink=program.debug program') == 0;
	push(@programs, ["a debug link $name", $ok ? $exe : undef, 1]);
}

# A line table of a version that nobody reads yet.
if (my $exe = make_program('unread', 'g++', '', '')) {
	my $at = $exe =~ s{/program$}{}r;
	my $dumped = system("cd '$at' && objcopy --dump-section .debug_line=lines program") == 0;
	my $table = read_file("$at/lines") // '';
	substr($table, 4, 2) = pack('v', 77);
	write_file("$at/lines", $table);
	push(@programs, ['lines of the future', $dumped &&
		system("cd '$at' && objcopy --update-section .debug_line=lines program") == 0 ? $exe : undef, 0, 'invalid DWARF version']);
}

# libdw(1): whether the library that the command is linked with reads the lines of a program. It has to
# read them wherever that can be: elfutils 0.196 refuses line tables of 64-bit DWARF.
my $libdw = write_file(scratch('libdw.c'), <<'C') && scratch('libdw');
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	Dwarf *dwarf = dwarf_begin(open(argv[argc - 1], O_RDONLY), DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t n;
	while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (dwarf_getsrclines(&die, &lines, &n) != 0)
			return puts(dwarf_errmsg(-1)), 1;
	return 0;
}
C
system('gcc', '-o', $libdw, "$libdw.c", '-ldw') == 0 or die "no libdw\n";

# Counts of the loop in walk.cc: the misses of its lines, and of the one that has them but where a
# compiler takes the first load out of the loop.
sub walked
{
	my ($profile) = @_;
	my ($file) = grep { (realpath($_->{file}) // '') eq $walk } @{$profile->{sources}} or return;
	my ($all, $here) = (0, 0);
	for my $line (@{$file->{lines}}) {
		$all += $line->{counts}{l1d_load_misses} if $line->{line} <= $HERE;
		$here += $line->{counts}{l1d_load_misses} if $line->{line} == $HERE;
	}
	return ($all, $here);
}

# The same line as a region: it is one, with its loads, or a warning says why not; the program runs.
sub check_region
{
	my ($name, $exe, @args) = @_;
	my $run = peek(engine => 'sim', events => 'l1d_misses', command => [$exe, @args],
		env => {CACHEPEEK_REGIONS => 'line:walk.cc:6-7', CACHEPEEK_MACHINE => bare('skylake-sp')});
	is("$run->{out}$run->{status}", '0', "$name, as a region: the program runs");
	my ($region) = grep { "@{$_->{path}}" eq 'walk.cc:6-7' } @{$run->{report}{regions}};
	my $warnings = join(' ', @{$run->{report}{warnings}});
	return cmp_ok($region->{counts}{l1d_misses}{value}, '>=', $LINES - 1, "$name: it is one") if $region;
	like($warnings, qr/^CACHEPEEK_REGIONS=line:walk\.cc:6-7: (?:the simulator cannot read the line numbers of \S+: |\S+ has no line numbers: |no such file )/,
		"$name: why it is none");
}

for (@programs) {
	my ($name, $exe, $must, $unread) = @$_;
	if ($exe && $must && `$libdw $exe` eq "invalid .debug_line section\n") {
		($must, $unread) = (0, 'this libdw reads none of 64-bit DWARF: build that with -gdwarf32');
	}
	SKIP: {
		skip("$name: cannot be built here", 6) unless $exe;
		my $json = scratch('profile.json');
		my $run = run(command => [cli(), 'dcache', '-E', 'sim', '-m', bare('skylake-sp'), '-o', $json, $exe]);
		is($run->{err}, '', "$name: a profile");
		check_region($name, $exe);
		my $profile = decode_json(read_file($json));
		my ($all, $here) = walked($profile);
		my $annotated = run(command => [cli(), 'annotate', '-i', $json, 'walk.cc']);
		my $warning = $unread && "its line numbers cannot be read: $unread";
		if ($unread) {
			is_deeply($profile->{warnings}, ["$exe: $warning"], "$name: a warning says why there are none");
			like($annotated->{err}, qr/^cachepeek: no line.* (?:most of it in program|known in this run): \Q$warning\E/, "$name: and so does annotate");
			is($all, undef, "$name: there are none");
			next;
		}
		if (!defined($all) && !$must) {
			like($annotated->{err}, qr/^cachepeek: (?:no line of walk\.cc is known .* without line numbers, most of it in program|no lines of source are known)/,
				"$name: no lines, which is said");
			ok(!(grep { (realpath($_->{file}) // '') eq $walk } @{$profile->{sources}}), "$name: nor those of another file");
			pass($name);
			next;
		}
		is($all, $LINES, "$name: the lines that missed");
		my $counted = $here =~ s/(\d)(\d{3})$/$1,$2/r;
		like($annotated->{out}, qr/^ *[\d.]+ +$counted .* 7  .*here$/m, "$name: annotate has most of them in one") or diag($annotated->{err});
		my ($data) = grep { $_->{name} =~ /::walked$/ } @{$profile->{data}};
		is($data && $data->{file} ? realpath($data->{file}) : '', $walk, "$name: the variable has its place") or diag(explain($data));
	}
}
# A library that the simulator's reader gives up on, mapped where it was before.
SKIP: {
	my $at = scratch('plugin');
	mkdir($at);
	write_file("$at/host.c", <<'C');
#include <dlfcn.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen(argv[argc - 1], RTLD_NOW);
		if (!plugin || ((long (*)(void))dlsym(plugin, "_Z4walkv"))() == 7 || dlclose(plugin) != 0)
			return 1;
	}
	return 0;
}
C
	skip 'no library of 64-bit DWARF', 2 if system("cd '$at' && gcc -o host host.c && g++ -O1 -g -gdwarf64 -shared -fPIC -o plugin.so ../src/walk.cc 2> errors");
	check_region('a library of 64-bit DWARF', "$at/host", "$at/plugin.so");
}
done_testing();
