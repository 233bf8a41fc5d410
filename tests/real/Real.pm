# SPDX-License-Identifier: MIT
# Real software, alone and with the library: one description of how a program is
# started, used and stopped is run three times in the same place (alone, perf,
# sim; or those that REAL_ENGINES names), and what was seen has to be the same.
#
#	software('nginx', needs => ['/usr/sbin/nginx', 'curl'],
#		prepare => sub { my ($at) = @_; $at->native(...) },
#		start => sub { my ($at) = @_; return [COMMAND] },    # a server, in the foreground
#		ready => sub { my ($at) = @_; $at->listens($at->port) },
#		use => sub { my ($at) = @_; $at->client(...); $at->under(...) },
#		stop => 'QUIT',
#		filter => [[qr/pid \d+/, 'pid N', 'the kernel chooses it']],
#		counted => {nginx => 4},               # so many processes, at least, in the reports
#		ends => {'nginx signal 9' => 1});      # how many may have other ends than exit and exec
#
# Compared: outputs, errors, statuses, what the description notes down, the program's
# descriptors, files left in its directories, System V and POSIX shared memory, and
# processes that nobody waited for.  Each report has to parse, and to tell of no end
# that the description does not have.  Further keys: users (root, nobody), engines,
# notes (what the library may say, per engine), skip (a sub: why not here), unreported
# (commands that the library cannot be loaded into).
package Real;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use IO::Socket::INET;
use POSIX ();
use Test::More;
use Time::HiRes ();
use lib abs_path(dirname(__FILE__) . '/../e2e');
use Json;
use Laws;
use Peek;

# They run the code that they run alone, on the host's own machine.
delete @ENV{qw(CACHEPEEK_CPU CACHEPEEK_MACHINE)};

our @EXPORT = qw(software root scratch write_file read_file which);

my $NOBODY = 65534;
# Numbers of descriptors from here on are ours: half of the soft limit below.
my $PROGRAMS_DESCRIPTORS = 512;

# ---- a place for it ----

# System V objects, /dev/shm, /run and mounts of our own, where that is allowed: nothing
# that others leave is taken for ours.
sub separate
{
	return if $ENV{REAL_SEPARATE} || !root();
	return if system('unshare --ipc --mount true 2> /dev/null') != 0;
	$ENV{REAL_SEPARATE} = 1;
	exec('unshare', '--ipc', '--mount', 'sh', '-c',
		'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount -t tmpfs tmpfs /run && exec "$@"', 'sh', $^X, $0, @ARGV);
}

# A process whose parent ends becomes a child of ours: those that are left are found.
sub adopt_orphans
{
	my $number = (POSIX::uname())[4] eq 'x86_64' ? 157 : 167;
	syscall($number, 36, 1, 0, 0, 0) == 0 or die "prctl: $!";   # PR_SET_CHILD_SUBREAPER
}

# The soft limit of most systems, and a hard one with room; nothing open that
# whoever runs the tests had.
my @inherited;
sub limit_descriptors
{
	for my $number (map { m{(\d+)$} } glob('/proc/self/fd/*')) {
		next if $number <= 2 || !open(my $file, '<&=', $number);
		push(@inherited, $file) if fcntl($file, 2, 1);   # F_SETFD, FD_CLOEXEC
	}
	system("prlimit --pid $$ --nofile=1024:4096 2> /dev/null || prlimit --pid $$ --nofile=1024:");
}

# Any user has to be able to load the library, wherever the sources are.
my $copy = scratch('library');
sub copy_library
{
	chmod(0755, scratch());
	make_path($copy);
	system('cp', '-RL', lib(), build() . '/libcachepeek', $copy) == 0 or die 'cp';
}

# ---- what is left ----

sub children_of
{
	my %parents;
	for my $path (glob('/proc/[0-9]*/stat')) {
		my ($pid, $state, $ppid) = (read_file($path) // '') =~ /^(\d+) \(.*\) (\S) (\d+)/s or next;
		push(@{$parents{$ppid}}, $pid) if $state ne 'Z';
	}
	my @found = my @open = @_;
	while (@open) {
		my @next = map { @{$parents{$_} || []} } @open;
		push(@found, @next);
		@open = @next;
	}
	return @found[@_ .. $#found];
}

sub reap { 1 while waitpid(-1, 1) > 0 }

sub command_of { (read_file("/proc/$_[0]/cmdline") // '') =~ tr/\0/ /r =~ s/\s+$//r }

# Names of processes that are still there; they are killed.
sub kill_all { my @pids = children_of($$); kill('KILL', @pids) if @pids }

sub remaining_processes
{
	my $until = Time::HiRes::time() + 5;
	my @pids;
	while (reap(), @pids = children_of($$)) {
		last if Time::HiRes::time() > $until;
		Time::HiRes::sleep(0.02);
	}
	my @names = sort map { command_of($_) } @pids;
	kill('KILL', @pids) if @pids;
	Time::HiRes::sleep(0.1) if @pids;
	reap();
	return @names;
}

sub shared_memory
{
	my @names = map { "/dev/shm/$_" } map { s{.*/}{}r } glob('/dev/shm/*');
	for my $kind (qw(shm sem msg)) {
		my @lines = split(/\n/, read_file("/proc/sysvipc/$kind") // '');
		push(@names, "$kind " . (@lines - 1)) if @lines > 1;
	}
	return $ENV{REAL_SEPARATE} ? @names : ();
}

# ---- one run of a description: its methods are what descriptions call ----

sub place { scratch('real') }

sub begin
{
	my ($description, $engine, $user) = @_;
	my $at = bless({description => $description, engine => $engine, user => $user,
		transcript => [], reports => [], notes => [], ports => $description->{ports}, runs => 0});
	remove_tree(place());
	make_path(map { $at->$_() } qw(work tmp home cache));
	chown($NOBODY, $NOBODY, place(), map { $at->$_() } qw(work tmp home cache)) if $user eq 'nobody';
	return $at;
}

sub work { place() . '/work' . (@_ > 1 ? "/$_[1]" : '') }
sub tmp { place() . '/tmp' }
sub home { place() . '/home' }
sub cache { place() . '/cache' }

# A file of the description; the user's own.
sub file
{
	my ($at, $name, $text) = @_;
	my $path = $at->work($name);
	make_path(dirname($path));
	write_file($path, $text);
	chown($NOBODY, $NOBODY, dirname($path), $path) if $at->{user} eq 'nobody';
	return $path;
}

# The same in each run of the description.
sub port
{
	my ($at, $name) = (@_, 'main');
	return $at->{ports}{$name} //= IO::Socket::INET->new(LocalAddr => '127.0.0.1',
		Listen => 1, ReuseAddr => 1)->sockport;
}

sub note_down
{
	my ($at, @lines) = @_;
	push(@{$at->{transcript}}, map { split(/\n/, $_, -1) } @lines);
}

sub until
{
	my ($at, $what, $condition, $seconds) = @_;
	my $end = Time::HiRes::time() + ($seconds || 300);
	until ($condition->()) {
		die "not in time: $what\n" if Time::HiRes::time() > $end;
		die "the server has ended: $what\n" if $at->{server} && $at->ended;
		Time::HiRes::sleep(0.05);
	}
}

sub listens
{
	my ($at, $port) = @_;
	return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port // $at->port, Timeout => 5);
}

sub environment
{
	my ($at) = @_;
	return (TMPDIR => $at->tmp, HOME => $at->home, XDG_CACHE_HOME => $at->cache,
		%{$at->{description}{env} || {}});
}

# As the user, then with the library.
sub started_by
{
	my ($at, %library) = @_;
	return (($at->{user} eq 'nobody' ? ('setpriv', "--reuid=$NOBODY", "--regid=$NOBODY", '--clear-groups') : ()),
		%library ? ('env', map { "$_=$library{$_}" } sort keys %library) : ());
}

sub run_in
{
	my ($at, $command, $options, %library) = @_;
	return Peek::run(cwd => $at->work, %$options,
		command => [$at->started_by(%library), @$command],
		env => {$at->environment, %{$options->{env} || {}}});
}

sub options { my ($command) = @_; return ref($command->[-1]) eq 'HASH' ? pop(@$command) : {} }

# Runs what is not under test, and has to succeed.
sub native
{
	my ($at, @command) = @_;
	my $options = options(\@command);
	my $run = $at->run_in(\@command, $options);
	die "@command: " . status_text($run->{status}) . "\n$run->{out}$run->{err}" if $run->{status};
	return $run->{out};
}

sub saw
{
	my ($at, $what, $run) = @_;
	$at->note_down("\$ $what", $run->{out} =~ s/\n\z//r, (map { "2> $_" } split(/\n/, $run->{err})),
		status_text($run->{status}));
}

# A client, without the library, of what is under test.
sub client
{
	my ($at, @command) = @_;
	my $options = options(\@command);
	my $run = $at->run_in(\@command, $options);
	$at->saw("@command", $run);
	return $run;
}

sub library
{
	my ($at, $json) = @_;
	return () if $at->{engine} eq 'alone';
	return (LD_PRELOAD => "$copy/libcachepeek.so", CACHEPEEK_ENGINE => $at->{engine},
		CACHEPEEK_OUTPUT => $json, $at->{engine} eq 'perf' ? (CACHEPEEK_EVENTS => $SOFTWARE) : ());
}

sub next_report { sprintf('%s/report%03d.json', place(), ++$_[0]{runs}) }

sub without_notes
{
	my ($at, $text) = @_;
	return join('', grep { /^cachepeek: / ? !push(@{$at->{notes}}, $_) : 1 } split(/^/, $text));
}

sub collect
{
	my ($at, $what, $json) = @_;
	return if $at->{engine} eq 'alone';
	# A process that may not read its own records any more says which command writes the report.
	my ($later) = map { /^cachepeek: no report: .*`cachepeek report (\S+)` writes it/ } @{$at->{notes}};
	Peek::run(command => [cli(), 'report', '-o', $json, $later]) if defined $later && !-e $json;
	my $text = read_file($json);
	my $report = defined $text ? eval { decode_json($text) } : undef;
	$what =~ s/\n.*//s;
	push(@{$at->{reports}}, {what => length $what > 70 ? substr($what, 0, 67) . '...' : $what, report => $report, there => defined $text});
	Peek::keep($json, $report) if $report;
}

# A command under test.
sub under
{
	my ($at, @command) = @_;
	my $options = options(\@command);
	my $json = $at->next_report;
	my $run = $at->run_in(\@command, $options, $at->library($json));
	$run->{err} = $at->without_notes($run->{err});
	$at->saw("@command", $run) unless $options->{quiet};
	$at->collect("@command", $json);
	return $run;
}

# ---- servers ----

sub start
{
	my ($at, @command) = @_;
	my ($json, $out) = ($at->next_report, place() . '/server.out');
	my @all = ($at->started_by($at->library($json)), @command);
	my %env = $at->environment;
	my $pid = fork() // die "fork: $!";
	if (!$pid) {
		$ENV{$_} = $env{$_} for keys %env;
		Peek::child({command => \@all, cwd => $at->work}, $out, "$out.err");
	}
	$at->{server} = {pid => $pid, what => "@command", json => $json, out => $out};
	return $pid;
}

sub pid { $_[0]{server}{pid} }

sub ended
{
	my ($at) = @_;
	my $server = $at->{server};
	$server->{status} = $? if !defined $server->{status} && waitpid($server->{pid}, 1) > 0;
	return defined $server->{status};
}

sub processes { my ($at) = @_; return ($at->pid, children_of($at->pid)) }

# Pids of the server's processes whose command line is like that.
sub find
{
	my ($at, $like) = @_;
	my @pids = sort { $a <=> $b } grep { command_of($_) =~ $like } $at->processes;
	return @pids;
}

sub stop
{
	my ($at, $signal) = @_;
	my $server = $at->{server} or return;
	kill($signal, $server->{pid}) if $signal && !$at->ended;
	my $end = Time::HiRes::time() + 60;
	until ($at->ended) {
		if (Time::HiRes::time() > $end) {
			$at->note_down('the server did not stop');
			last;
		}
		Time::HiRes::sleep(0.02);
	}
	delete $at->{server};
	$at->saw($server->{what}, {status => $server->{status}, out => read_file($server->{out}) // '',
		err => $at->without_notes(read_file("$server->{out}.err") // '')});
	$at->collect($server->{what}, $server->{json});
}

# The processes below the server's own, and no further.
sub workers
{
	my ($at) = @_;
	my $task = $at->pid;
	my @pids = sort { $a <=> $b } split(' ', read_file("/proc/$task/task/$task/children") // '');
	return @pids;
}

# How many of each kind are open.  Their numbers are not compared: with several
# processes they depend on who was first.
sub descriptors_of
{
	my ($pid) = @_;
	my %open;
	for my $number (map { m{(\d+)$} } glob("/proc/$pid/fd/[0-9]*")) {
		next if $number >= $PROGRAMS_DESCRIPTORS;
		my $name = readlink("/proc/$pid/fd/$number") // next;
		$open{$name =~ s/:\[.*//r}++;
	}
	return map { "$_ $open{$_}" } sort keys %open;
}

sub snapshot { my ($at) = @_; return join("\n", sort map { 'descriptors: ' . join(', ', descriptors_of($_)) } $at->processes) }

# When they have been the same for a second alone; with the library, when they are
# the same as alone, or in half a minute.
sub descriptors
{
	my ($at) = @_;
	my ($as_alone, $now, $since) = (shift(@{$at->{open_alone}}), '', Time::HiRes::time());
	my $end = $since + 30;
	while (Time::HiRes::time() < $end) {
		my $before = $now;
		$now = $at->snapshot;
		$since = Time::HiRes::time() if $now ne $before;
		last if defined $as_alone ? $now eq $as_alone : Time::HiRes::time() > $since + 1;
		Time::HiRes::sleep(0.1);
	}
	push(@{$at->{open}}, $now);
	$at->note_down($now);
}

# ---- the three runs, and what is compared ----

sub listing
{
	my ($directory) = @_;
	my $names = `cd '$directory' && find . | LC_ALL=C sort`;
	return split(/\n/, $names);
}

sub go_through
{
	my ($at) = @_;
	my $description = $at->{description};
	my $died;
	eval {
		local $SIG{ALRM} = sub { die "not ready in time\n" };
		alarm($description->{seconds} || 900);
		$description->{prepare}->($at) if $description->{prepare};
		$at->start(@{$description->{start}->($at)}) if $description->{start};
		$at->until('ready', sub { $description->{ready}->($at) }) if $description->{ready};
		$description->{use}->($at);
		$at->stop($description->{stop});
		alarm(0);
		1;
	} or $died = $@ || 'died';
	alarm(0);
	$at->stop('KILL') if $died && $at->{server};
	$at->note_down("died: $died") if $died;
	$at->note_down(map { "left running: $_" } remaining_processes());
	$at->note_down(map { "shared memory: $_" } shared_memory());
	$at->note_down(map { "in TMPDIR: $_" } grep { $_ ne '.' } listing($at->tmp));
	$at->note_down(map { "file: $_" } listing($at->work));
	$at->note_down(map { "at home: $_" } listing($at->home));
	system('rm', '-rf', '--', glob('/dev/shm/*')) if $ENV{REAL_SEPARATE} && glob('/dev/shm/*');
	return $died;
}

# [pattern, replacement, why] for all runs; {sim => [...]}: for those of one engine and alone.
sub filtered
{
	my ($at) = @_;
	my @lines = @{$at->{transcript}};
	for my $filter (@{$at->{description}{filter} || []}) {
		my ($pattern, $with, $why) = @$filter;
		die "a filter has its reason: $pattern" unless $why;
		@lines = grep { defined } map {
			my $line = $_;
			defined $with ? $line =~ s/$pattern/$with/g : $line =~ $pattern ? ($line = undef) : 0;
			$line;
		} @lines;
	}
	return @lines;
}

sub difference
{
	my ($alone, $with) = @_;
	my ($a, $b) = (scratch('alone.txt'), scratch('with.txt'));
	write_file($a, join('', map { "$_\n" } @$alone));
	write_file($b, join('', map { "$_\n" } @$with));
	my $text = `diff -a -U2 --label alone --label with $a $b`;
	return length $text > 6000 ? substr($text, 0, 6000) . "...\n" : $text;
}

sub ends_of
{
	my ($at) = @_;
	my %ends;
	for my $process (map { @{$_->{report}{processes} || []} } grep { $_->{report} } @{$at->{reports}}) {
		my $exit = $process->{exit};
		next if $exit->{how} eq 'exit' || $exit->{how} eq 'exec';
		my $code = $exit->{how} eq 'signal' ? " $exit->{code}" : '';
		$ends{($process->{exe} =~ s{.*/}{}r) . " $exit->{how}$code"}++;
	}
	return \%ends;
}

sub check_reports
{
	my ($at) = @_;
	my %counted;
	for my $one (@{$at->{reports}}) {
		my $report = $one->{report};
		my $none = $at->{description}{unreported};
		next if $none && !$one->{there} && $one->{what} =~ $none;
		ok($report, "a report that parses: $one->{what}") || diag($one->{there} ? 'it does not' : 'there is none')
			or next;
		is($report->{engine}{name}, $at->{engine}, 'its engine');
		ok_sums($report, "report of $one->{what}");
		is_deeply([Laws::broken($report)], [], 'the laws that its counts obey');
		$counted{$_->{exe} =~ s{.*/}{}r}++ for leaves($report);
	}
	my $expected = $at->{description}{counted} || {};
	cmp_ok($counted{$_} || 0, '>=', $expected->{$_}, "processes counted: $_") for sort keys %$expected;
	my ($ends, $may) = (ends_of($at), $at->{description}{ends} || {});
	is_deeply([grep { $ends->{$_} > ($may->{$_} || 0) } sort keys %$ends], [], 'no end but exits and those expected')
		or diag(explain($ends));
}

sub compare
{
	my ($at, $alone) = @_;
	my @with = filtered($at);
	my $text = difference($alone, \@with);
	ok($text eq '', 'nothing differs') or diag($text);
	my $may = ($at->{description}{notes} || {})->{$at->{engine}};
	my @notes = grep { !$may || $_ !~ $may } @{$at->{notes}};
	is(scalar(@notes), 0, 'the library has nothing to say') or diag(@notes);
	check_reports($at);
	my ($kept) = `du -sm '${\$at->cache}'` =~ /^(\d+)/;
	cmp_ok($kept, '<', 64, 'megabytes of records');
}

sub cpu_seconds { my @t = times(); return $t[2] + $t[3] }

sub run_once
{
	my ($description, $engine, $user, @open_alone) = @_;
	my ($cpu, $clock) = (cpu_seconds(), Time::HiRes::time());
	my $at = begin($description, $engine, $user);
	$at->{open_alone} = \@open_alone;
	my $died = $at->go_through;
	note(sprintf('%s %s as %s: %.1f s of CPU, %.1f s', $description->{name}, $engine, $user,
		cpu_seconds() - $cpu, Time::HiRes::time() - $clock));
	if ($ENV{REAL_KEEP}) {
		make_path($ENV{REAL_KEEP});
		write_file("$ENV{REAL_KEEP}/$description->{name}-$engine-$user", join("\n", @{$at->{transcript}}, ''));
	}
	return ($at, $died);
}

sub software_as
{
	my ($description, $user) = @_;
	my ($alone, $died) = run_once($description, 'alone', $user);
	my @alone = filtered($alone);
	if ($died) {
		fail("$description->{name} alone, as $user");
		return diag(join("\n", @alone));
	}
	for my $engine (@{$description->{engines} || [split(q( ), $ENV{REAL_ENGINES} || q(perf sim))]}) {
		my $what = "$description->{name}: $engine, as $user";
		SKIP: {
			skip("$what: the kernel counts no software events here", 1)
				if $engine eq 'perf' && !can_count('software');
			my ($with) = run_once($description, $engine, $user, @{$alone->{open} || []});
			subtest $what => sub { compare($with, \@alone) };
		}
	}
}

sub missing
{
	my ($description) = @_;
	return grep { m{^/} ? !-e $_ : !which($_) } @{$description->{needs} || []};
}

my $prepared;
sub software
{
	my ($name, %description) = @_;
	SKIP: {
		my @missing = missing(\%description);
		skip("$name: not here: @missing", 1) if @missing;
		my $why = $description{skip} ? $description{skip}->() : undef;
		skip("$name: $why", 1) if $why;
		$prepared ||= do { adopt_orphans(); limit_descriptors(); copy_library(); 1 };
		local $SIG{TERM} = local $SIG{INT} = local $SIG{HUP} = sub { kill_all(); exit(1) };
		for my $user (root() ? @{$description{users} || ['root']} : 'me') {
			software_as({%description, name => $name, ports => {}}, $user);
		}
	}
}

separate();
1;
