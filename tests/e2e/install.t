#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The files that `make install` copies work by themselves, from any directory; `make
# uninstall` leaves nothing.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Stage;
use Test::More;

my $stage = stage();
my $prefix = "$stage/usr/local";

sub installed
{
	my @files;
	find({no_chdir => 1, wanted => sub { push(@files, $_) if -f }}, $stage) if -d $stage;
	return map { s{^\Q$stage\E}{}r } sort @files;
}
# Documents and examples are all that there are.
my @documents = map { s{^\Q@{[source()]}\E/}{share/doc/cachepeek/}r }
	map { glob(source() . "/$_") } qw(doc/*.md doc/*.png examples/*);
cmp_ok(scalar(@documents), '>', 15, 'documents and examples');
my ($version) = read_file(source() . '/Makefile') =~ /^VERSION := (.*)$/m;
is_deeply([grep { !m{^/usr/local/lib/libcachepeek/} } installed()], [sort map { "/usr/local/$_" =~ s/VERSION/$version/r } @documents, qw(
	bin/cachepeek include/cachepeek.h lib/cmake/cachepeek/cachepeek-config-version.cmake
	lib/cmake/cachepeek/cachepeek-config.cmake lib/libcachepeek.so lib/pkgconfig/cachepeek.pc
	share/bash-completion/completions/cachepeek
	share/cachepeek/cachepeek-compare-1.schema.json
	share/cachepeek/cachepeek-diff-1.schema.json share/cachepeek/cachepeek-doctor-1.schema.json
	share/cachepeek/cachepeek-list-1.schema.json share/cachepeek/cachepeek-profile-1.schema.json
	share/cachepeek/cachepeek-path-diff-1.schema.json share/cachepeek/cachepeek-repeat-1.schema.json
	share/cachepeek/cachepeek-confirm-1.schema.json share/cachepeek/cachepeek-explain-1.schema.json
	share/cachepeek/cachepeek-report-1.schema.json share/cachepeek/cachepeek-report-2.schema.json
	share/cachepeek/cachepeek-sharing-1.schema.json
	share/cachepeek/modulefiles/cachepeek/VERSION
	share/cachepeek/Cachepeek.java share/cachepeek/cachepeek.f90 share/cachepeek/cachepeek.go share/cachepeek/cachepeek.py share/cachepeek/cachepeek.rs share/cachepeek/cachepeek_criterion.rs share/cachepeek/cachepeek_pytest.py share/cachepeek/cachepeek_report.py
	share/doc/cachepeek/README.md
	share/fish/vendor_completions.d/cachepeek.fish
	share/man/man1/cachepeek.1 share/man/man3/cachepeek.3
	share/man/man5/cachepeek-groups.5 share/man/man5/cachepeek-machines.5
	share/man/man7/cachepeek-differences.7 share/man/man7/cachepeek-environment.7
	share/man/man7/libcachepeek.7 share/zsh/site-functions/_cachepeek)],
	'the files it installs');
ok(-x "$prefix/lib/libcachepeek/cachepeek-amd64-linux", 'and the simulated PMU')
	if `uname -m` =~ /x86_64/;

my $run = peek(engine => 'sim', events => 'instructions', preload => "$prefix/lib/libcachepeek.so",
	cwd => '/', command => [program('threads'), 2]);
cmp_ok(value(region($run->{report}), 'instructions') || 0, '>', 10000, 'the library finds its PMU');
my $json = scratch('command.json');
$run = run(cwd => '/', env => {CACHEPEEK_ENGINE => 'sim'},
	command => ["$prefix/bin/cachepeek", '-e', 'instructions', '-o', $json, program('threads'), 2]);
like(read_file($json) || '', qr/"cachepeek-report\/1"/, 'the command finds the library')
	|| diag($run->{err});

# The library in a directory of a multi-arch system, where a package puts it.
{
	my $place = scratch('multiarch');
	my $main = write_file(scratch('main.c'), qq(#include "tools/shared/place.h"\n)
		. "int main(int argc, char **argv) { (void)argc; return cp_exec_preloaded(argv + 1, (char *[]){0}) != 0; }\n");
	my $built = run(command => [$ENV{CC} || 'gcc', '-D_GNU_SOURCE', '-I' . source(),
		qq(-DCP_LIBDIR="$place"), '-o', scratch('placed'), $main, source() . '/tools/shared/place.c']);
	my $run = run(command => [scratch('placed'), 'true']);
	like($run->{err}, qr{^cachepeek: libcachepeek.so is neither .*\Q$place\E: run `make install`$}m,
		'the command says where it has looked') || diag($built->{err});
	mkdir($place);
	run(command => ['cp', '-r', "$prefix/lib/libcachepeek.so", "$prefix/lib/libcachepeek", $place]);
	$run = run(command => [scratch('placed'), 'true'],
		env => {CACHEPEEK_ENGINE => 'sim', CACHEPEEK_EVENTS => 'instructions'});
	like($run->{err}, qr/whole run/, 'and finds it in LIBDIR') || diag($run->{err});
}

# The directory that pkg-config tells is the installed one.
my $flags = run(command => ['pkg-config', '--cflags', '--libs', 'cachepeek'], env => {stage_env()});
is($flags->{out} =~ s/\s+$//r, "-I$prefix/include", 'pkg-config: the header, and nothing to link');
is(run(command => ['pkg-config', '--modversion', 'cachepeek'], env => {stage_env()})->{out},
	"$version\n", 'pkg-config: the version');
like(read_file(source() . '/debian/changelog'), qr/^cachepeek \(\Q$version\E\)/,
	'the Debian package has the same');

is(run(command => ["$prefix/bin/cachepeek", '--version'])->{out}, "cachepeek $version\n", 'the command says it');
like(read_file("$prefix/share/man/$_"), qr/^\.TH .* "libcachepeek \Q$version\E"/m, "$_ says it")
	for qw(man1/cachepeek.1 man3/cachepeek.3 man5/cachepeek-groups.5 man5/cachepeek-machines.5
		man7/cachepeek-differences.7 man7/cachepeek-environment.7 man7/libcachepeek.7);
is(run(command => [which('python3'), '-c', 'import cachepeek; print(cachepeek.__version__)'],
	env => {PYTHONPATH => "$prefix/share/cachepeek"})->{out}, "$version\n", 'and Python');

# The modulefile, loaded by the real thing.
SKIP: {
	my ($modulecmd) = grep { -x } '/usr/bin/modulecmd';
	skip('no modulecmd (environment-modules)', 4) unless $modulecmd;
	my $modules = "$prefix/share/cachepeek/modulefiles";
	my $file = "$modules/cachepeek/$version";
	write_file($file, read_file($file) =~ s{ /usr/local}{ $prefix}gr);
	my $program = program('threads');
	my $run = run(command => ['sh', '-c', <<"SH"], cwd => '/', env => {MODULEPATH => $modules, LOADEDMODULES => undef});
eval "\$($modulecmd sh load cachepeek)"
cachepeek --version
pkg-config --modversion cachepeek
CACHEPEEK_ENGINE=sim CACHEPEEK_EVENTS=instructions CACHEPEEK_OUTPUT=-.json LD_PRELOAD=libcachepeek.so $program 2 | grep -c cachepeek-report/1
eval "\$($modulecmd sh unload cachepeek)"
echo "left: \$CACHEPEEK_PRELOAD"
SH
	my @lines = split(/\n/, $run->{out});
	is($lines[0], "cachepeek $version", 'module load: the command') or diag($run->{err});
	is($lines[1], $version, 'pkg-config finds it');
	is($lines[2], 1, 'the library is found by its name');
	is($lines[3], 'left: ', 'module unload: nothing is left');
}

# A program built against the installed header only.
my $source = write_file(scratch('use.c'), qq(#include <cachepeek.h>\nint main(void)\n{\n)
	. qq(\tCACHEPEEK_BEGIN("a");\n\tCACHEPEEK_END("a");\n\treturn 0;\n}\n));
my $build = run(command => [$ENV{CC} || 'gcc', split(' ', $flags->{out}), '-o', scratch('use'), $source]);
is($build->{err}, '', 'the installed header is enough');
$run = peek(engine => 'sim', events => 'instructions', command => [scratch('use')]);
is((region($run->{report}, 'a') || {calls => 0})->{calls}, 1, 'and its regions are counted');

# The same by CMake.
SKIP: {
	skip('no cmake', 3) unless which('cmake');
	my $project = scratch('cmake');
	mkdir($project);
	write_file("$project/CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(use C)\n"
		. "find_package(cachepeek $version EXACT REQUIRED CONFIG)\nadd_executable(use ../use.c)\n"
		. 'target_link_libraries(use PRIVATE cachepeek::cachepeek)' . "\nmessage(STATUS \"preload \${CACHEPEEK_PRELOAD}\")\n");
	# As pkg-config, by what stands in the stage: the file names the prefix without it.
	my $found = "$stage/usr/local/lib/cmake/cachepeek/cachepeek-config.cmake";
	like(read_file($found), qr{"/usr/local/include"}, 'CMake: the header is below the prefix');
	write_file($found, read_file($found) =~ s{"/usr/local}{"$prefix}gr);
	my $run = run(command => ['cmake', "-DCMAKE_PREFIX_PATH=$prefix", '-B', "$project/b", $project]);
	like($run->{out}, qr{preload \Q$prefix\E/lib/libcachepeek\.so}, 'finds this version, and what is preloaded') || diag($run->{err});
	$run = run(command => ['cmake', '--build', "$project/b"]);
	is(status_text($run->{status}), 'exit 0', 'builds with it') || diag($run->{out}, $run->{err});
}

my $uninstall = stage_make('uninstall');
is(status_text($uninstall->{status}), 'exit 0', 'make uninstall');
is_deeply([installed()], [], 'leaves nothing');
done_testing();
