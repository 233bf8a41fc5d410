#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# What `make install` copies works by itself, from any directory; `make
# uninstall` leaves nothing.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $stage = scratch('stage');
my $prefix = "$stage/usr/local";
my @make = ('make', '-s', '-C', source(), 'B=' . build(), "DESTDIR=$stage", 'PREFIX=/usr/local');
my $install = run(command => [@make, 'install'], env => {CI => undef});
is(status_text($install->{status}), 'exit 0', 'make install') || BAIL_OUT($install->{err});

sub installed
{
	my @files;
	find({no_chdir => 1, wanted => sub { push(@files, $_) if -f }}, $stage) if -d $stage;
	return map { s{^\Q$stage\E}{}r } sort @files;
}
is_deeply([grep { !m{^/usr/local/lib/cachepeek/} } installed()], [map { "/usr/local/$_" }
	qw(bin/cachepeek include/cachepeek.h lib/libcachepeek.so
	share/cachepeek/cachepeek.f90 share/cachepeek/cachepeek.py
	share/man/man1/cachepeek.1 share/man/man3/cachepeek.3 share/man/man7/libcachepeek.7)], 'the files it installs');
ok(-x "$prefix/lib/cachepeek/cachepeek-amd64-linux", 'and the simulated PMU')
	if `uname -m` =~ /x86_64/;

my $run = peek(engine => 'sim', events => 'instructions', preload => "$prefix/lib/libcachepeek.so",
	cwd => '/', command => [program('threads'), 2]);
cmp_ok(value(region($run->{report}), 'instructions') || 0, '>', 10000, 'the library finds its PMU');
my $json = scratch('command.json');
$run = run(cwd => '/', env => {CACHEPEEK_ENGINE => 'sim'},
	command => ["$prefix/bin/cachepeek", '-e', 'instructions', '-o', $json, program('threads'), 2]);
like(read_file($json) || '', qr/"cachepeek-report\/1"/, 'the command finds the library')
	|| diag($run->{err});

# A program built against the installed header only.
my $source = write_file(scratch('use.c'), qq(#include <cachepeek.h>\nint main(void)\n{\n)
	. qq(\tCACHEPEEK_BEGIN("a");\n\tCACHEPEEK_END("a");\n\treturn 0;\n}\n));
my $build = run(command => [$ENV{CC} || 'gcc', "-I$prefix/include", '-o', scratch('use'), $source]);
is($build->{err}, '', 'the installed header is enough');
$run = peek(engine => 'sim', events => 'instructions', command => [scratch('use')]);
is((region($run->{report}, 'a') || {calls => 0})->{calls}, 1, 'and its regions are counted');

my $uninstall = run(command => [@make, 'uninstall']);
is(status_text($uninstall->{status}), 'exit 0', 'make uninstall');
is_deeply([installed()], [], 'leaves nothing');
done_testing();
