# SPDX-License-Identifier: MIT
# Shared by the end-to-end tests: running a command with and without the
# library, and reading the JSON report.
package Peek;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Copy qw(move);
use File::Temp qw(tempdir);
use Json;
use Laws;
use Room;
use Test::More;
use Time::HiRes ();

our @EXPORT = qw(exports wait_until run peek plain report kept_report root build lib cli program source scratch
	write_file read_file machine_file timed_machine bare stripped which sqlite_command no_other_user as_user terminal_script lines_shown need_perf can_count why_not region threads_named leaves
	value is_near sum_of_threads ok_sums ok_exit status_text notes ok_same root_process $SOFTWARE);

# Events that every kernel counts, so that the perf engine has nothing to say.
our $SOFTWARE = 'perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES';

my $source = abs_path(dirname(__FILE__) . '/../..');
# B as make knows it: relative to the top, or absolute.
my $build = $ENV{B} || 'build';
$build = abs_path($build =~ m{^/} ? $build : "$source/$build");
my $scratch = tempdir('peek-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $seconds = $ENV{PEEK_TIMEOUT} || 300;

# Nothing of the caller's own settings reaches a program under test.
delete @ENV{grep { /^CACHEPEEK_|^LD_PRELOAD$/ } keys %ENV};
$ENV{PAGER} = 'cat'; # nobody turns pages
$ENV{LC_ALL} = 'C';
$ENV{PERL_HASH_SEED} = 0;
$ENV{PYTHONHASHSEED} = 0;
# Prefetchers and policies are those of no host, whichever it is; -m host has its own.
$ENV{CACHEPEEK_MACHINE} = 'plain';
# Programs choose the same code on each host.
$ENV{CACHEPEEK_CPU} = 'valgrind';
# Where the library keeps the last run.
$ENV{XDG_CACHE_HOME} = "$scratch/cache";
# The host as the kernel tells it, whatever was measured.
$ENV{XDG_CONFIG_HOME} = "$scratch/config";

# Nothing of ours is left where it is nobody's to clean up.
my $test = $$;
my @root_had = glob('/*');
END {
	if (defined $test && $$ == $test) {
		my %had = map { $_ => 1 } @root_had;
		my @left = grep { !$had{$_} && m{^/(?:.*cachepeek|peek|report|record|run-)} } glob('/*');
		diag("left behind by this test, or by one beside it: @left") if @left;
		$? ||= 1 if @left;
	}
}

sub source { $source }
sub build { $build }
sub lib { "$build/libcachepeek.so" }
sub cli { "$build/cachepeek" }

# The symbols that the library has to export: the names of its map, and what its patterns stand for.
sub exports
{
	my ($map) = read_file("$source/preload/libcachepeek.map") =~ /global:(.*?)local:/s;
	my ($wide, $plain) = read_file("$source/preload/parallel/mpi_calls.h")
		=~ /CP_MPI_CALLS_WITH_COUNTS\(X\)(.*?)CP_MPI_CALLS\(X\)(.*)/s;
	my @calls = ((map { ($_, "${_}_c") } $wide =~ /X\((\w+)\)/g), $plain =~ /X\((\w+)\)/g);
	my %names = map { $_ => 1 } (grep { /^\w+$/ } split(/[;\s]+/, $map)), map { ("MPI_$_", "PMPI_$_") } @calls;
	return sort keys %names;
}

sub program { "$build/tests/programs/$_[0]" }
sub scratch { @_ ? "$scratch/$_[0]" : $scratch }

sub read_file
{
	my ($path) = @_;
	open(my $file, '<:raw', $path) or return undef;
	local $/;
	my $text = <$file>;
	return defined $text ? $text : '';
}

sub write_file
{
	my ($path, $text) = @_;
	open(my $file, '>:raw', $path) or die "$path: $!";
	print $file $text;
	close($file) or die "$path: $!";
	return $path;
}

# A machine of no more than a name and sizes, which can be sampled; but for these changes.
sub machine_file
{
	my ($name, %changes) = @_;
	my %of = (l1i => '32K 8 64', l1d => '32K 8 64', l2 => '256K 8 64', llc => '2M 16 64', itlb => '64 4', dtlb => '64 4',
		stlb => '1536 6', page => '4K', cores => 4, %changes);
	return valid_machine($name, join('', map { "$_ = $of{$_}\n" } sort keys %of));
}

# A file whose machine the library must not replace by the host's.
my %is_valid;
sub valid_machine
{
	my ($name, $text) = @_;
	my $file = write_file(scratch("$name.machine"), $text);
	$is_valid{$file} = 1;
	return $file;
}

# One of the library's machines without its prefetchers, by the same name.
sub bare
{
	my ($name) = @_;
	return valid_machine($name, read_file("$source/base/machines/$name.machine") . "prefetch = none\n");
}

# The program of this name on the path; of several python3, Debian's own.
sub which
{
	my ($name) = @_;
	for my $directory ('/usr/bin', '/bin', split(/:/, $ENV{PATH})) {
		return "$directory/$name" if -x "$directory/$name";
	}
	return undef;
}

# A command that has SQLite's library execute this, and prints what that finds: SQLite's own program, or Python
# where that program has the library in it.
sub sqlite_command
{
	my ($sql) = @_;
	my $program = '/usr/bin/sqlite3';
	return ($program, ':memory:', $sql) if `readelf -d $program 2> /dev/null` =~ /NEEDED.*libsqlite3/;
	return ('/usr/bin/python3', '-S', '-c', 'import sqlite3, sys; c = sqlite3.connect(":memory:"); ' .
		'[print(*r, sep="|") for s in sys.argv[1].split(";") for r in c.execute(s)]', $sql);
}

# ---- other users ----

# Files that another user runs are copied, where the build stands in a directory that only root enters.
my @runs_elsewhere = qw(cachepeek libcachepeek.so libcachepeek tests/programs);

sub is_closed_to_others { system('setpriv --reuid=65534 --regid=65534 --clear-groups test -r ' . lib() . ' 2> /dev/null') != 0 }

# Why root cannot become another user here; '': it can.  From then on the scratch directory is one that
# others enter, and build(), lib(), cli() and program() are where they reach them: a test that keeps
# one of these asks first.
my $no_other_user;
sub no_other_user
{
	return $no_other_user if defined $no_other_user;
	return $no_other_user = 'only root can be another user' if !root();
	return $no_other_user = 'no setpriv' if !which('setpriv');
	chmod(0755, $scratch);
	if (is_closed_to_others()) {
		my $copy = "$scratch/build";
		system('mkdir', '-p', "$copy/tests") == 0 && system('chmod', '0755', $copy, "$copy/tests") == 0 or die "$copy\n";
		system('cp', '-Rp', "$build/$_", "$copy/$_") == 0 or die "$copy/$_\n" for @runs_elsewhere;
		$build = $copy;
	}
	return $no_other_user = is_closed_to_others() ? 'others cannot enter the directory of temporary files' : '';
}

# The words that root puts before a command that this user is to run, without groups.
sub as_user
{
	my ($number) = (@_, 65534);
	my $why = no_other_user();
	die "$why\n" if $why;
	return (which('setpriv'), "--reuid=$number", "--regid=$number", '--clear-groups');
}

# script(1), where it can make a terminal: not in every chroot.
sub terminal_script
{
	my $script = which('script');
	return $script && system("$script -qec true /dev/null > /dev/null 2>&1") == 0 ? $script : undef;
}

# The lines that a terminal shows of what was written to it, without colour:
# progress of a slow run is erased when the next text comes.
sub lines_shown
{
	my ($seen) = @_;
	$seen =~ s/\AScript started.*\n//;
	$seen =~ s/\nScript done.*\n\z//;
	$seen =~ s/^[^\n]*\r\x1b\[K//mg;
	$seen =~ s/\x1b\[[\d;]*[mK]|\r//g;
	return split(/\n/, $seen);
}

sub child
{
	my ($run, $out, $err) = @_;
	setpgrp(0, 0);
	open(STDIN, '<', $run->{stdin} || '/dev/null') or die "stdin: $!";
	open(STDOUT, '>', $out) or die "stdout: $!";
	open(STDERR, '>', $err) or die "stderr: $!";
	chdir($run->{cwd} || $scratch) or die "chdir: $!";
	my %env = %{$run->{env} || {}};
	for my $name (keys %env) {
		if (defined $env{$name}) { $ENV{$name} = $env{$name} } else { delete $ENV{$name} }
	}
	# Whoever runs the tests in the background or under nohup has these ignored.
	$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT PIPE TERM);
	exec { $run->{file} || $run->{command}[0] } @{$run->{command}} or
		print STDERR "exec: $!\n";
	require POSIX;
	POSIX::_exit(127);
}

# The wait status; undef if the command did not end in time, and was killed.
sub wait_for
{
	my ($pid) = @_;
	my $until = Time::HiRes::time() + $seconds;
	my $pause = 0.001;
	until (waitpid($pid, 1) == $pid) {   # 1: WNOHANG
		if (Time::HiRes::time() > $until) {
			kill('KILL', -$pid);
			waitpid($pid, 0);
			return undef;
		}
		Time::HiRes::sleep($pause);
		$pause = 0.02 if ($pause *= 1.5) > 0.02;
	}
	return $?;
}

# Does it hold within a minute?
sub wait_until
{
	my ($holds) = @_;
	for (1 .. 1200) {
		return 1 if $holds->();
		Time::HiRes::sleep(0.05);
	}
	return 0;
}

# run(command => [...], env => {...}, stdin => FILE, cwd => DIR, file => FILE)
# -> {out, err, status}
my $runs = 0;
sub run
{
	my (%run) = @_;
	my $name = sprintf('%s/run%04d', $scratch, ++$runs);
	my $pid = fork();
	die "fork: $!" unless defined $pid;
	child(\%run, "$name.out", "$name.err") unless $pid;
	my $status = wait_for($pid);
	my %result = (command => $run{command}, status => $status,
		out => read_file("$name.out"), err => read_file("$name.err"));
	unlink("$name.out", "$name.err");
	diag("timed out after $seconds s: @{$run{command}}") unless defined $status;
	return \%result;
}

sub plain { run(@_) }

# run() under the library; more keys: engine (perf or sim: a test never leaves
# it to the machine), events, groups, machine, output, preload; under: a command
# that starts the program, itself without the library.  The report, decoded, is
# {report}; lines of ours on stderr are {notes}, the rest is {err}.
sub peek
{
	my (%run) = @_;
	# Names are of one length: the size of the environment moves the stack.
	my $json = sprintf('%s/report%04d.json', $scratch, ++$runs);
	my %env = (LD_PRELOAD => $run{preload} || lib(),
		CACHEPEEK_OUTPUT => $run{output} || $json,
		CACHEPEEK_ENGINE => $run{engine});
	$env{CACHEPEEK_EVENTS} = $run{events} if defined $run{events};
	$env{CACHEPEEK_GROUPS} = $run{groups} if defined $run{groups};
	$env{CACHEPEEK_MACHINE} = $run{machine} if defined $run{machine};
	if (($run{engine} || '') eq 'perf' && !defined $run{events} && !defined $run{groups}) {
		$env{CACHEPEEK_EVENTS} = $SOFTWARE;
	}
	%env = (%env, %{$run{env} || {}});
	if ($run{under}) {
		$run{command} = [@{$run{under}}, 'env', "LD_PRELOAD=$env{LD_PRELOAD}", @{$run{command}}];
		$env{LD_PRELOAD} = undef;
	}
	my $result = run(%run, env => \%env);
	$result->{notes} = [];
	$result->{err} = join('', grep {
		/^cachepeek: / ? !push(@{$result->{notes}}, $_) : 1
	} split(/^/, $result->{err}));
	fail("machine: $_") for grep { $is_valid{$run{machine} // ''} && /simulated instead/ } @{$result->{notes}};
	$result->{json} = read_file($json);
	$result->{report} = eval { decode_json($result->{json}) } if defined $result->{json};
	Laws::hold($result->{report}) if $result->{report};
	keep($json, $result->{report});
	return $result;
}

# `make check` looks at all reports afterwards (tests/validate.py).
sub keep
{
	my ($json, $report) = @_;
	if ($report && $ENV{PEEK_REPORTS}) {
		my $test = $0 =~ s{.*/}{}r;
		move($json, "$ENV{PEEK_REPORTS}/$test-" . $json =~ s{.*/}{}r);
	}
	unlink($json);
}

sub notes { scalar @{$_[0]{notes}} }

# ---- reports ----

# The one that the command makes of a run in this directory that could not make its own.
sub kept_report
{
	my ($directory) = @_;
	my $file = "$directory.json";
	run(command => [cli(), 'report', '-o', $file, $directory]);
	my $text = read_file($file);
	return defined $text ? decode_json($text) : undef;
}

# The region of this path in {regions => [...]}: a report or a thread of it.
sub region
{
	my ($in, @path) = @_;
	for my $region (@{$in->{regions} || []}) {
		return $region if join("\0", @{$region->{path}}) eq join("\0", @path);
	}
	return undef;
}

# value(REGION, NAME[, "exclusive"]); undef where there is none.
sub value
{
	my ($region, $name, $which) = @_;
	return undef unless $region && $region->{counts}{$name};
	return $region->{counts}{$name}{$which || 'value'};
}

# stripped(PROGRAM, NAME, DEBUG): a copy in the scratch directory without symbols, and
# with them in the file DEBUG, whose name the copy has.  Returns its path and build ID.
sub stripped
{
	my ($program, $name, $debug) = @_;
	my $copy = scratch($name);

	system('objcopy', '--only-keep-debug', $program, $debug) == 0 or die "no objcopy\n";
	system('strip', '-o', $copy, $program);
	system('objcopy', "--add-gnu-debuglink=$debug", $copy);
	my ($id) = `readelf -n $copy` =~ /Build ID: ([0-9a-f]+)/;
	return ($copy, $id);
}

# is_near(GOT, WANTED, NAME): equal in the digits that JSON gives of a number that
# is no count (10).  Two numbers that are rounded to text first differ by chance,
# where one of them lies on the boundary.
sub is_near
{
	my ($got, $wanted, $name) = @_;
	my $equal = defined $got && defined $wanted && abs($got - $wanted) <= 1e-9 * abs($wanted) + 1e-12;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($equal, $name) || diag(($got // 'nothing') . ', not ' . ($wanted // 'nothing'));
}

sub threads_named
{
	my ($report, $name) = @_;
	return grep { $_->{name} eq $name } map { @{$_->{threads}} } @{$report->{processes}};
}

# The images that ended, not those that became another program.
sub leaves
{
	my ($report) = @_;
	return grep { $_->{exit}{how} ne 'exec' } @{$report->{processes}};
}

sub sum_of_threads
{
	my ($process, $name, @path) = @_;
	my $sum = 0;
	for my $thread (@{$process->{threads}}) {
		my $region = region($thread, @path);
		$sum += value($region, $name) || 0 if $region;
	}
	return $sum;
}

# A part of the run may be too little for a simulated estimate.
sub lacks_estimate
{
	my ($report, $region, $name) = @_;
	return 0 if $report->{engine}{name} ne 'sim' || $region->{counts}{$name}{status} ne 'estimated';
	my @parts = map { region($_, @{$region->{path}}) // () } map { @{$_->{threads}} } @{$report->{processes}};
	return scalar(grep { $_->{counts}{$name} && !defined $_->{counts}{$name}{value} } @parts);
}

# Every count of every region of the report is the sum over all threads.
sub ok_sums
{
	my ($report, $what) = @_;
	my @wrong;
	my $compared = 0;
	for my $region (@{$report->{regions}}) {
		for my $name (sort keys %{$region->{counts}}) {
			my $total = value($region, $name);
			next if !defined $total || lacks_estimate($report, $region, $name);
			my $sum = 0;
			$sum += sum_of_threads($_, $name, @{$region->{path}})
				for @{$report->{processes}};
			$compared++;
			push(@wrong, join('/', @{$region->{path}}) . " $name: $total, threads $sum")
				if $sum != $total;
		}
	}
	my $held = ok($compared && !@wrong, "$what: threads add up to the whole");
	diag($compared ? join("\n", @wrong) : 'nothing to compare') unless $held;
	return $held;
}

sub status_text
{
	my ($status) = @_;
	return 'none' unless defined $status;
	return 'signal ' . ($status & 127) if $status & 127;
	return 'exit ' . ($status >> 8);
}

# The report says of a process's end what its parent was told.
sub ok_exit
{
	my ($process, $status, $what) = @_;
	my $exit = $process ? $process->{exit} : {};
	return is(($exit->{how} || 'none') . ' ' . (defined $exit->{code} ? $exit->{code} : '-'),
		status_text($status), "$what: how and code of the end");
}

# ---- transparency ----

# Runs the command without and with the library: a test that nobody can
# tell the difference, and that the report has all of it.  Keys as of peek();
# exes: names of the executables expected to end, one per process; threads: how
# many there have to be in those, or a range [least, most].
sub ok_same
{
	my ($what, %run) = @_;
	my $plain = run(%run);
	my $with = peek(%run);
	my ($exes, $threads) = @run{qw(exes threads)};

	$what = "$run{engine}: $what";
	subtest $what => sub {
		is($with->{out}, $plain->{out}, 'same output') if length $plain->{out} < 4096;
		ok($with->{out} eq $plain->{out}, 'same output, byte for byte');
		is($with->{err}, $plain->{err}, 'same errors');
		is(status_text($with->{status}), status_text($plain->{status}), 'same status');
		is(notes($with), 0, 'nothing to say') or diag(@{$with->{notes}});
		my $report = $with->{report};
		return fail('a report') unless ok($report, 'a report');
		is($report->{schema}, 'cachepeek-report/1', 'its schema');
		is($report->{engine}{name}, $run{engine}, 'its engine');
		is(join(' ', sort map { $_->{exe} =~ s{.*/}{}r } leaves($report)),
			join(' ', sort @$exes), 'every process') if $exes;
		my $count = map { @{$_->{threads}} } leaves($report);
		my ($least, $most) = ref $threads ? @$threads : ($threads, $threads);
		ok($count >= $least && $count <= $most, 'every thread') ||
			diag("$count threads, not $least to $most") if defined $threads;
		ok_exit(root_process($report), $plain->{status}, 'root');
		ok_sums($report, 'sums');
	};
	return $with;
}

# The last image of the process that started the run: nobody is its parent.
sub root_process
{
	my ($report) = @_;
	my %pids = map { $_->{pid} => 1 } @{$report->{processes}};
	my @root = grep { !$pids{$_->{ppid}} } @{$report->{processes}};
	my ($last) = grep { $_->{exit}{how} ne 'exec' } @root;
	return $last;
}

# ---- what the machine lets us count ----

my $countable;
sub can_count
{
	my ($kind) = @_;
	$countable = run(command => [program('can_count')])->{out} unless defined $countable;
	return $countable =~ /^$kind$/m;
}

# Why an engine cannot count here; "": it can.
sub why_not
{
	my ($engine) = @_;
	return $engine eq 'sim' || can_count('software') ? '' : 'the kernel counts no software events here';
}

# Skips the whole test where the kernel counts nothing at all.
# A machine whose time is known, out of order and with nothing assumed; more lines of it.
sub timed_machine
{
	my ($name, @more) = @_;
	return write_file(scratch($name), <<'END' . join('', map { "$_\n" } @more));
l1d = 32K 8 64 latency=4
l2 = 256K 8 64 latency=14
llc = 2M 16 64 latency=50
stlb = 1536 12 latency=7
memory-latency = 250
walk-latency = 30
clock-mhz = 2000
timing = ooo
width = 4
window = 256
mispredict-latency = 15
END
}

sub need_perf
{
	my ($kind) = (@_, 'software');
	return if can_count($kind);
	my ($why) = $countable =~ /^no $kind: (.*)$/m;
	plan(skip_all => "the kernel counts no $kind events here: $why");
}

sub root { $> == 0 }
sub report { $_[0]{report} }

1;
