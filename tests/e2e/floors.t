#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Where the library cannot work, one line says so: musl, an old glibc, an old
# Valgrind.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

sub floors { return run(command => ['sh', source() . '/tools/floors.sh', @_]) }

# A "compiler" that says what the headers of an older glibc would.
sub compiler
{
	my ($major, $minor) = @_;
	my $path = write_file(scratch("cc-$major.$minor"),
		"#!/bin/sh\necho '#define __GLIBC__ $major'\necho '#define __GLIBC_MINOR__ $minor'\n");
	chmod(0755, $path);
	return $path;
}

sub valgrind
{
	my ($minor) = @_;
	mkdir(scratch("valgrind-$minor"));
	write_file(scratch("valgrind-$minor/valgrind.h"),
		"#define __VALGRIND_MAJOR__    3\n#define __VALGRIND_MINOR__    $minor\n");
	return scratch("valgrind-$minor");
}

for my $case ([compiler(2, 34), valgrind(19), undef],
	[compiler(2, 100), valgrind(20), undef],
	[compiler(2, 34), '/nowhere', undef],
	[compiler(2, 33), valgrind(19), 'needs glibc 2.34 or newer, and this is 2.33'],
	[compiler(2, 4), valgrind(19), 'needs glibc 2.34 or newer, and this is 2.4'],
	[compiler(2, 36), valgrind(18), 'needs Valgrind 3.19 or newer, and this is 3.18'],
	[compiler(2, 36), valgrind(9), 'needs Valgrind 3.19 or newer, and this is 3.9'],
	['false', valgrind(19), 'false cannot compile: install a C compiler and the headers of the C library']) {
	my ($cc, $include, $complaint) = @$case;
	my $run = floors($cc, $include);
	is($run->{err}, defined $complaint ? "cachepeek: $complaint\n" : '', $complaint || "$cc $include");
	is(status_text($run->{status}), defined $complaint ? 'exit 1' : 'exit 0', 'and its status');
}

# Libraries: a header that is not there, and one that lacks what is used of it.
sub library
{
	my ($name, $text) = @_;
	my $directory = scratch('include');
	mkdir($directory);
	mkdir($1) if "$directory/$name" =~ m{(.*/include/.*)/};
	return write_file("$directory/$name", $text);
}

my $gcc = which('gcc');
is(floors($gcc, valgrind(19), '')->{err}, '', 'this machine has all libraries');
my $header = library('perfmon/pfmlib.h', "#define pfm_for_all_pmus(x)\nint pfm_initialize(void);\n");
for my $case (['-nostdinc', 'needs libpfm4, and %s finds no perfmon/pfmlib.h: install libpfm4-dev'],
	['-isystem ' . scratch('include'), "needs a newer libpfm4, with pfm_get_pmu_info, and $header has none"]) {
	my ($flags, $complaint) = @$case;
	my $run = floors($gcc, valgrind(19), $flags);
	is($run->{err}, 'cachepeek: ' . ($complaint =~ s/%s/$gcc/r) . "\n", $complaint);
	is(status_text($run->{status}), 'exit 1', 'and its status');
}

# The versions that the manual promises are the limits.
my $script = read_file(source() . '/tools/floors.sh');
my $manual = read_file(source() . '/doc/libcachepeek.7');
for my $case (['glibc', qr/glibc (\d\S*) or newer/], ['valgrind', qr/^Valgrind\n(\d\S*),/m]) {
	my ($name, $promise) = @$case;
	my ($floor) = $script =~ /^$name=(\S+)$/m;
	my ($told) = $manual =~ $promise;
	is($told, $floor, "libcachepeek(7) has the floor of $name");
}

SKIP: {
	my $musl = which('musl-gcc') or skip('no musl-gcc (musl-tools)', 7);
	my $build = run(command => ['make', '-C', source(), 'CC=musl-gcc', 'B=' . scratch('musl')]);
	isnt(status_text($build->{status}), 'exit 0', 'a build for musl is refused');
	is(scalar(() = $build->{err} =~ /^cachepeek: needs glibc, .*musl/mg), 1, 'in one line');
	ok(!-e scratch('musl/libcachepeek.so'), 'and leaves nothing');

	write_file(scratch('hello.c'), "int puts(const char *);\nint main(void) { puts(\"hello\"); return 3; }\n");
	run(command => [$musl, '-o', scratch('hello'), scratch('hello.c')]);
	my $run = run(command => [cli(), scratch('hello')]);
	is($run->{out}, "hello\n", 'a program of musl runs');
	is(status_text($run->{status}), 'exit 3', 'and ends as it does');
	like($run->{err}, qr/\Acachepeek: .* is linked with musl, .* uncounted .*\n\z/, 'one line says that it is not counted');
	$run = run(command => [cli(), '-E', 'sim', '-e', 'instructions', 'true']);
	like($run->{err}, qr/whole run/, 'others are') || diag($run->{err});
}
done_testing();
