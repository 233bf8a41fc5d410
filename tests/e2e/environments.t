#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Where something is missing that a library may count on, or is taken away while
# the program runs: it behaves as without us, and what was counted is there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my $faults = 'perf::PAGE-FAULTS';
my $runs = 0;

sub directory
{
	my $directory = scratch(sprintf('env-%02d', ++$runs));
	mkdir($directory, 0755) or die;
	return $directory;
}

# Runs it without and with the library; the report is its own or, where `says`
# matches its line, the command's.
sub ok_confined
{
	my ($what, %run) = @_;
	my $directory = directory();
	my %under = $run{under} ? (command => [@{$run{under}}, @{$run{command}}]) : ();
	my $plain = run(%run, %under);
	my $with = peek(engine => 'perf', %run,
		env => {CACHEPEEK_DIR => $directory, %{$run{env} || {}}});

	is(status_text($with->{status}), status_text($plain->{status}), "$what: same status");
	is($with->{out}, $plain->{out}, "$what: same output");
	is($with->{err}, $plain->{err}, "$what: same errors");
	if ($run{says}) {
		is(notes($with), $run{lines} || 1, "$what: one line for each thing") or diag(@{$with->{notes}});
		like($_, $run{says}, "$what: what happened") for @{$with->{notes}};
		ok(!$with->{report}, "$what: no report of its own");
		$with->{report} = kept_report($directory);
	} else {
		is(notes($with), 0, "$what: nothing to say") or diag(@{$with->{notes}});
	}
	return $with;
}

sub ok_regions
{
	my ($what, $report, %count) = @_;
	for my $name (sort keys %count) {
		my $found = value(region($report, $name), $faults);
		# A page that it shares with the process that writes its report is copied once.
		$found-- if $what =~ /^(?:landlock|execute)$/ && ($found // 0) == $count{$name} + 1;
		is($found, $count{$name}, "$what: region $name");
	}
}

# ---- taken away while it runs ----

my $here = `id -u` == 0 ? undef : 'only root may do that';
my $root = directory();
for my $row (
	['nothing', [], undef, 200, 100],
	['allow', [], undef, 200, 100],
	['maze', [], undef, 200, 100],
	['execute', [], undef, 200, 100],
	['fsize', [], qr/too large: the file is left as it was/, 200, 100],
	['nofile', [], qr/no report: .* too many open files/, 200, 100],
	['filter', [], qr/no report: the program forbids .*seccomp/, 200, 100],
	['syscall', [], qr/no report: the program forbids .*seccomp/, 200, 100],
	['grow', [], qr/no memory for|no report: the program forbids .*seccomp/, 200, 100, 3],
	['strict', [], qr/strict mode: it is counted up to here/, 100, undef],
	['chroot', [$root], qr/no report: the program changed its root/, 200, 100],
	['setuid', [], qr/no report: the program changed its root .* its user/, 200, 100],
	['landlock', [], undef, 200, 100],
	['umask', [], undef, 200, 100],
	['rights', [], undef, 200, 100],
	['mounts', [$root], undef, 200, 100],
) {
	my ($how, $arguments, $says, $before, $after, $lines) = @$row;
SKIP: {
	skip("$how: $here", 1) if $here && $how =~ /chroot|setuid|rights|mounts/;
	# landlock_create_ruleset asked for its version.
	skip('landlock: not in this kernel', 1) if $how eq 'landlock' && syscall(444, 0, 0, 1) < 1;
	my $run = ok_confined($how, says => $says, lines => $lines, command => [program('confine'), $how, @$arguments]);
	ok_regions($how, $run->{report}, before => $before, $after ? (after => $after) : ());
}
}

# One that may open no file any more, as xz does: its report is everywhere where it would
# have been, and its output ends when it does.
SKIP: {
	skip('landlock: not in this kernel', 1) if syscall(444, 0, 0, 1) < 1;
	for my $engine (grep { !why_not($_) } qw(perf sim)) {
		my ($cache, $files) = (directory(), directory());
		my %env = (XDG_CACHE_HOME => $cache, CACHEPEEK_DIR => undef, LD_PRELOAD => lib(), CACHEPEEK_ENGINE => $engine,
			$engine eq 'sim' ? (CACHEPEEK_MACHINE => 'skylake-sp') : ());
		my @command = (program('confine'), 'landlock');
		my $plain = run(command => \@command);
		is(status_text($plain->{status}) . $plain->{out}, "exit 7done\n", "landlock, $engine: alone");
		my $run = run(command => \@command, env => {%env, CACHEPEEK_OUTPUT => "stderr,$files/a.json,$files/a.csv"});
		is(status_text($run->{status}) . $run->{out}, "exit 7done\n", "landlock, $engine: as alone");
		like($run->{err}, qr/^ *before .*^ *after /ms, "landlock, $engine: the report on stderr");
		unlike($run->{err}, qr/no report/, "landlock, $engine: and nothing more");
		ok(-s "$files/$_", "landlock, $engine: $_") for qw(a.json a.csv);
		$run = run(command => \@command, env => {%env, CACHEPEEK_OUTPUT => '-'});
		like($run->{out}, qr/^done\n.*^ *after /ms, "landlock, $engine: on stdout");
		my @reports = map { run(command => [cli(), 'report', $_]) } glob("$cache/cachepeek/run-*");
		is(scalar(grep { $_->{out} =~ /^ *after /m } @reports), 2, "landlock, $engine: and both runs are kept as ever");
	}
}

# One that is executed where nothing may be written.
SKIP: {
	skip('landlock: not in this kernel', 1) if syscall(444, 0, 0, 1) < 1;
	for my $engine (grep { !why_not($_) } qw(perf sim)) {
		my $run = peek(engine => $engine, command => [program('confine'), 'written', program('empty')]);
		is(status_text($run->{status}), 'exit 0', "nothing may be written, $engine: as alone");
		is($run->{err}, '', "nothing may be written, $engine: no errors");
		is(scalar(grep { /process \d+ is not counted/ } @{$run->{notes}}), 1, "nothing may be written, $engine: one line") or diag(@{$run->{notes}});
	}
}

# A file of its own on our numbers, where none can be moved.
{
	my $directory = directory();
	my @limit = ('prlimit', '--nofile=256:256');
	my @take = (command => [program('confine'), 'take']);
	my $plain = run(command => [@limit, @{$take[1]}]);
	my $run = peek(engine => 'perf', under => \@limit, @take, env => {CACHEPEEK_DIR => $directory});
	is(status_text($run->{status}), status_text($plain->{status}), 'descriptors taken under a filter: same status');
	is($run->{out}, $plain->{out}, '... same output');
	ok_regions('descriptors taken under a filter', kept_report($directory), before => 200, after => 100);
}

# The program is still the one that is killed by a signal after the kernel has
# refused its filter.
{
	my $run = peek(engine => 'perf', command => [program('confine'), 'refused']);
	is(status_text($run->{status}), 'signal 11', 'a filter that the kernel refuses: same status');
	is(notes($run), 0, '... nothing to say') or diag(@{$run->{notes}});
	ok_exit(root_process($run->{report} || {processes => []}), $run->{status}, '... a fault after it');
	ok_regions('a filter that the kernel refuses', $run->{report}, before => 200, after => 100);
}

# Its own death, and neither ours by a forbidden call nor a line about it.
{
	my $directory = directory();
	my $run = peek(engine => 'perf', command => [program('confine'), 'fault'],
		env => {CACHEPEEK_DIR => $directory});
	is(status_text($run->{status}), 'signal 11', 'a fault under a filter: same status');
	ok_regions('a fault under a filter', kept_report($directory), before => 200, after => 100);
}

is_deeply([glob("$root/*")], [], 'nothing was written below the new root directory');

# ---- runs of before: 20 are kept, and those that are not over ----

my $cache = scratch('old-runs');
my $nobody = 2**31 - 1;
mkdir($cache), mkdir("$cache/cachepeek");
sub old_run
{
	my ($number, @files) = @_;
	my $path = sprintf('%s/cachepeek/run-%06d-00000-0000000000000000', $cache, $number);
	mkdir($path);
	write_file("$path/$_", '') for @files;
	utime(time - 61, time - 61, $path);
	return $path;
}
my @old = map { old_run($_, "$nobody-0.rec") } 10 .. 29;
my $gone = old_run(1, "$nobody-0.rec", "$nobody-1.samples", "$nobody-0.profile", "$nobody-simulator.log");
my $alive = old_run(2, "$$-0.rec");
my $fresh = old_run(4, "$nobody-0.rec");
utime(undef, undef, $fresh);
my $begun = "$cache/cachepeek/run-000002-00000-$$-0000000000000000";
mkdir($begun);
utime(time - 61, time - 61, $begun);
my $foreign = old_run(3, "$nobody-0.rec", 'notes.txt');
run(command => ['true'], env => {LD_PRELOAD => lib(), XDG_CACHE_HOME => $cache, CACHEPEEK_ENGINE => 'perf', CACHEPEEK_DIR => undef});
ok(-e "$fresh/$nobody-0.rec", 'one that has changed in the last minute stays: its report may be about to come');
is(scalar(grep { -d } @old), 20, 'of old runs, the newest 20 are there');
ok(!-e $gone, 'what was before them is gone, with all that a run has');
ok(-e "$alive/$$-0.rec", 'a run whose process lives stays');
ok(-d $begun, '... and one in which there is no record yet, and whose owner lives');
ok(-e "$foreign/notes.txt" && !-e "$foreign/$nobody-0.rec", 'as does a file that is not ours');
isnt(readlink("$cache/cachepeek/last") // '', '', 'and there is a last one');

# ---- missing from the start ----

my @pages = (program('region_pages'), 100, 2);
my %sum = (touch => 100 + 101 + 102);
my $run;

$run = ok_confined('no HOME', command => \@pages,
	env => {HOME => undef, XDG_CACHE_HOME => undef, CACHEPEEK_DIR => undef});
ok_regions('no HOME', $run->{report}, %sum);
my $missing = scratch('no-such-home');
$run = ok_confined('a HOME that is missing', command => \@pages,
	env => {HOME => $missing, XDG_CACHE_HOME => undef, CACHEPEEK_DIR => undef});
ok_regions('a HOME that is missing', $run->{report}, %sum);
ok(!-e $missing, 'a HOME that is missing: is not made');

# ---- where no temporary file can be made ----

SKIP: {
	skip(why_not('sim'), 1) if why_not('sim');
	my $file = scratch('no-directory');
	write_file($file, '');
	for my $row (['is not there', scratch('no-such-directory')], ['is a file', $file], ['is read-only', '/proc'],
		['is empty', ''], ['is long', '/' . 'd' x 3000]) {
		my ($what, $directory) = @$row;
		ok_confined("TMPDIR $what", engine => 'sim', events => 'instructions', env => {TMPDIR => $directory},
			command => ['sh', '-c', 'tr "\\0" " " < /proc/self/cmdline; printf runs; exit 7']);
	}
}

# ---- what is meant for another Valgrind, or for a debugger ----

my $rc = directory();
write_file("$rc/.valgrindrc", "--leak-check=full\n");
for my $row (['VALGRIND_OPTS', VALGRIND_OPTS => '--leak-check=full'], ['.valgrindrc', HOME => $rc]) {
	my ($what, @env) = @$row;
	ok_confined("$what of another tool", engine => 'sim', events => 'instructions', command => \@pages, env => {@env});
}
SKIP: {
	my $asked = scratch('asked');
	my $finder = directory() . '/debuginfod-find';
	write_file("$finder.c", '#include <fcntl.h>' . "\nint main(void) { return open(\"$asked\", O_CREAT, 0600) < 0; }\n");
	# Static: the library, and all that it would start, stay out.
	skip('no musl-gcc', 1) if !which('musl-gcc') || system('musl-gcc', '-static', '-o', $finder, "$finder.c");
	my ($bin) = $finder =~ m{(.*)/};
	ok_confined('debuginfod', engine => 'sim', command => \@pages, events => 'instructions',
		env => {PATH => "$bin:$ENV{PATH}", DEBUGINFOD_URLS => 'http://localhost:1',
			CACHEPEEK_REGIONS => 'line:region_pages.c:1'});
	ok(!-e $asked, 'debuginfod: is not asked for the lines of the program');
}

my %huge = map { ("HUGE_$_" => 'x' x 100_000) } 1 .. 10;
$run = ok_confined('an environment of 1 MB', command => \@pages, env => \%huge);
ok_regions('an environment of 1 MB', $run->{report}, %sum);
my %many = map { ("MANY_$_" => $_) } 1 .. 20_000;
$run = ok_confined('20,000 variables', command => \@pages, env => \%many);
ok_regions('20,000 variables', $run->{report}, %sum);

SKIP: {
	my @unshare = ('unshare', '--mount', '--propagation', 'private', '--');
	skip('no mount namespace of our own here', 1)
		if run(command => [@unshare, 'mount', '-t', 'tmpfs', 'none', '/proc'])->{status};

	my @no_proc = (@unshare, 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh');
	$run = ok_confined('no /proc', command => \@pages, under => \@no_proc);
	ok_regions('no /proc', $run->{report}, %sum);

	# The directory that was asked for is on a file system without room.
	my $small = directory();
	my @full = (@unshare, 'sh', '-c', 'mount -t tmpfs -o size=8k none "$0" && exec "$@"', $small);
	my $plain = run(command => \@pages);
	$run = peek(engine => 'perf', under => \@full, command => \@pages,
		env => {CACHEPEEK_DIR => "$small/run"});
	is($run->{status}, 0, 'a full file system: the program runs');
	is(notes($run), 1, '... one line') or diag(@{$run->{notes}});
	like($run->{notes}[0] || '', qr/no run record in .*small|no run record in .*env-/, '... which says so');

	# Room for the record's beginning only: what did not fit is not made up.
	@full = (@unshare, 'sh', '-c', 'mount -t tmpfs -o size=200k none "$0" && exec "$@"', $small);
	$run = peek(engine => 'perf', under => \@full, command => [program('many_regions'), 5000],
		env => {CACHEPEEK_DIR => "$small/run"});
	is($run->{status}, 0, 'a file system that fills up: the program runs');
	ok(notes($run) >= 1, '... it says so');
	my $named = grep { @{$_->{path}} } @{$run->{report}{regions} || []};
	ok($named > 50 && $named < 5000, '... and reports what fitted') or diag($named);

	my @read_only = (@unshare, 'sh', '-c',
		'mount -t tmpfs -o ro none "$0" && exec "$@"', $small);
	$run = peek(engine => 'perf', under => \@read_only, command => \@pages,
		env => {CACHEPEEK_DIR => "$small/run"});
	is($run->{status}, 0, 'a read-only file system: the program runs');
	is(notes($run), 1, '... one line') or diag(@{$run->{notes}});
	like($run->{notes}[0] || '', qr/no place for the run's records/, '... which says so');
}

# ---- small stacks ----

$run = ok_confined('stacks of 16 KB', command => [program('small_stack')]);
is(value(region($run->{report}, ('nested') x 5), $faults) // 'none', 0, 'stacks of 16 KB: the innermost region');
my ($plain, $with) = map { $_->{out} } run(command => [program('small_stack'), 'measure']),
	peek(engine => 'perf', command => [program('small_stack'), 'measure']);
ok($with + 1024 >= $plain, 'hooks take little more stack than libc does') or diag("$with of $plain left");

# ---- children that are to be left alone ----

$run = ok_confined('CACHEPEEK_CHILDREN=ignore', env => {CACHEPEEK_CHILDREN => 'ignore'},
	command => ['sh', '-c', '"$0" 10 0; (:); ls -l /proc/self/fd | grep -c cachepeek; exit 3', program('region_pages')]);
is(scalar(@{$run->{report}{processes}}), 1, 'CACHEPEEK_CHILDREN=ignore: one process');
is(scalar(my @records = glob(scratch('env-*/*-*.rec'))) > 0, 1, 'records are kept where CACHEPEEK_DIR says');
done_testing();
