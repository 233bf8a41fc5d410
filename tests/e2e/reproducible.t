#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The same program counts the same in any environment and directory and as any user; or
# the report names what differs.
#	REPRODUCIBLE_RUNS=20 tests/e2e/reproducible.t	# of each program; 4 without this
#	REPRODUCIBLE_ALL=1 tests/e2e/reproducible.t	# twelve programs and more, 20 runs; prints what differs
#	REPRODUCIBLE_ALL=node tests/e2e/reproducible.t	# one of them
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

plan(skip_all => 'the simulator hides other things of other architectures')
	unless `uname -m` =~ /^x86_64/;
my $all = $ENV{REPRODUCIBLE_ALL};
my $runs = $ENV{REPRODUCIBLE_RUNS} || ($all ? 20 : 4);
my $work = scratch('reproducible');
my @places = map { "$work/" . 'd' x $_ } 1, 40, 90;
mkdir($_) for $work, @places, "$work/home";
my $no_other = no_other_user();
chmod(0755, $work, @places);

my ($cc, $cxx) = map { (split(' ', $ENV{$_->[0]} || $_->[1]))[0] } ['CC', 'gcc'], ['CXX', 'g++'];
write_file("$work/map.cc", <<'END');
#include <cstdio>
#include <string>
#include <unordered_map>
int main()
{
	std::unordered_map<std::string, long> all;
	for (long i = 0; i < 5000; i++)
		all["k" + std::to_string(i * 7919 % 2003)] += i;
	std::printf("%zu\n", all.size());
}
END
write_file("$work/found.c", <<'END');
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
/* What differs between runs otherwise: random numbers, addresses, time, variables. */
int main(int argc, char **argv)
{
	unsigned char random[64];
	struct timespec now, later;
	volatile long sum = 0;
	long start;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return 1;
	clock_gettime(CLOCK_REALTIME, &now);
	usleep(1000);
	clock_gettime(CLOCK_REALTIME, &later);
	start = (later.tv_nsec + random[0] * 1000 + (long)&start / 64) % 5000;
	for (long i = 0; i < start + getpagesize() % 7; i++)
		sum += i;
	for (char **variable = environ; *variable; variable++)
		sum += (long)strlen(*variable);
	if (argc > 1 && strcmp(argv[1], "time") == 0)
		printf("%ld %s\n", (long)now.tv_sec, later.tv_nsec - now.tv_nsec >= 1000000 ? "slept" : "not");
	if (argc > 1 && strcmp(argv[1], "by-hand") == 0)
		sum += syscall(SYS_getpid);
	if (argc > 1 && strcmp(argv[1], "user") == 0)
		printf("%ld %d\n", syscall(SYS_getuid), (int)getuid());
	if (argc > 1 && strcmp(argv[1], "pid") == 0)
		for (long i = getpid() % 1000; i > 0; i--)
			sum += i;
	return 0;
}
END
write_file("$work/qsort.c", <<'END');
#include <stdlib.h>
static int compare(const void *a, const void *b) { return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b); }
int main(void)
{
	int *all = malloc(20000 * sizeof(*all)), n = 20000;

	for (int i = 0; i < n; i++)
		all[i] = (int)(i * 7919u % 10007);
	qsort(all, (size_t)n, sizeof(*all), compare);
	return all[0];
}
END
write_file("$work/threads.c", <<'END');
#include <pthread.h>
static volatile char memory[4][1 << 16];
static void *fill(void *at) { for (long i = 0; i < 1 << 16; i++) ((volatile char *)at)[i] = 1; return NULL; }
int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, fill, (void *)memory[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
write_file("$work/pool.c", <<'END');
#include <pthread.h>
#include <string.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int left, busy;
static volatile char memory[1 << 18];
static long next(void)
{
	long job;

	pthread_mutex_lock(&lock);
	while (left == 0)
		pthread_cond_wait(&work, &lock);
	job = left < 0 ? 0 : left--;
	pthread_mutex_unlock(&lock);
	return job;
}
static void *serve(void *unused)
{
	(void)unused;
	for (long job; (job = next()) != 0;) {
		for (long i = 0; i < job * 300; i++)
			memory[(i * 64 + job) % (long)sizeof(memory)]++;
		pthread_mutex_lock(&lock);
		if (--busy == 0)
			pthread_cond_signal(&finished);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
/* Who works on what hangs on who wakes up first. */
int main(int argc, char **argv)
{
	const struct timespec moment = {0, 1000000};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, serve, NULL);
	for (int round = 0; round < 5; round++) {
		pthread_mutex_lock(&lock);
		left = busy = 8;
		pthread_cond_broadcast(&work);
		while (busy)
			pthread_cond_wait(&finished, &lock);
		pthread_mutex_unlock(&lock);
	}
	if (argc > 1 && strcmp(argv[1], "sleep") == 0)
		nanosleep(&moment, NULL);
	pthread_mutex_lock(&lock);
	left = -1;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
write_file("$work/leave.c", <<'END');
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *stay(void *unused) { pthread_mutex_lock(&lock); return unused; }
/* It ends while others wait for what never comes. */
int main(void)
{
	pthread_t threads[3];

	pthread_mutex_lock(&lock);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, stay, NULL);
	return 0;
}
END
run(command => [$cc, '-O1', '-pthread', '-o', "$work/$_", "$work/$_.c"]) for qw(qsort threads pool leave);
is(status_text(run(command => [$cxx, '-O1', '-o', "$work/map", "$work/map.cc"])->{status}), 'exit 0', 'map: built');
is(status_text(run(command => [$cc, '-O1', '-o', "$work/found", "$work/found.c"])->{status}), 'exit 0', 'found: built');
write_file("$work/text", join('', map { $_ * 7919 % 10007 . "\n" } 1 .. 3000));
my @own = map { "$work/$_" } qw(map found qsort threads pool leave);
chmod(0755, @own);
for my $place (@places) {
	run(command => ['cp', '-p', @own, "$work/text", $place]);
}

# Unlike in each run: variables, directory, user, outputs; and how the program is named,
# relatively or absolutely, which is an argument and so counts otherwise.
sub counts
{
	my ($i, @command) = @_;
	my $place = $places[$i % @places];
	my $json = sprintf('%s/%s.json', $work, 'r' x (1 + 13 * $i % 31));
	my %env = (PATH => '/usr/bin:/bin', HOME => $i % 2 ? "$work/home" : '/home/somebody', LANG => undef,
		map { ("V${i}_$_" => 'x' x ($_ * 37 * $i % 300)) } 1 .. 3 * $i);
	unlink($json);
	my @as = !$no_other && $i % 3 == 2 ? as_user() : ();
	$command[0] =~ s{^\./}{$place/} if $i % 2;
	my $run = run(command => [@as, cli(), '-m', 'skylake-sp', '-g', 'cache,tlb', '--reproducible',
		'-o', $json, @command], cwd => $place, env => {%env, XDG_CACHE_HOME => undef});
	my $report = decode_json(read_file($json) || 'null');
	diag($run->{err}) unless $report;
	return ($report, $run) unless $report;
	my $counts = $report->{processes}[-1]{whole_process}{counts};
	return ($report, $run, join(' ', map { "$_ $counts->{$_}{value}" } sort keys %$counts));
}

chmod(0777, $work, "$work/home");
# The same, of each run; those of programs that are known to differ are printed.
my @programs = (['gzip', '-c', 'text'], ['sort', 'text'], ['./map'], ['./found'], ['./threads'], ['./pool'], ['./leave']);
my @more = (['./qsort'], ['xz', '-c', 'text'], ['mawk', '{ n[$1 % 97]++ } END { for (i in n) s += n[i]; print s }', 'text'],
	['sqlite3', ':memory:', 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
		insert into t select i * 7919 % 2003, i from n; select count(*), sum(b) from t where a % 3 = 0;'],
	['perl', '-e', 'my %h; $h{$_ * 7919 % 2003} .= $_ for 1 .. 5000; print scalar(keys %h), "\n"'],
	['python3', '-c', 'd = {}
for i in range(5000): d[str(i * 7919 % 2003)] = i
print(len(d))'],
	['node', '-e', 'const m = new Map(); for (let i = 0; i < 5000; i++) m.set("k" + i * 7919 % 2003, i); console.log(m.size)']);
my %may_differ = (node => 1);

sub say_spread
{
	my ($program, @counts) = @_;
	my @all = map { +{split(' ')} } grep { defined } map { $counts[$_] } grep { $program !~ /^\./ || $_ % 2 == 0 } 0 .. $#counts;
	for my $event (qw(instructions l1d_misses)) {
		my @values = sort { $a <=> $b } map { $_->{$event} } @all;
		my %distinct = map { $_ => 1 } @values;
		diag(sprintf('%s: %s: %d values in %d runs, from %s to %s (%.4f %%)', $program, $event, scalar(keys %distinct),
			scalar(@values), $values[0], $values[-1], 100 * ($values[-1] / $values[0] - 1)));
	}
}

push(@programs, grep { $_->[0] =~ /^\./ || which($_->[0]) } @more) if $all;
@programs = grep { $_->[0] =~ /\b\Q$all\E$/ } @programs if $all && $all ne '1';
for my $program (@programs) {
	my ($report, %first, @counts);
	my $same = 0;
	for my $i (0 .. $runs - 1) {
		($report, undef, my $counts) = counts($i, @$program);
		last unless defined $counts;
		push(@counts, $counts);
		my $first = $first{$program->[0] =~ /^\./ ? $i % 2 : 0} ||= $counts;
		$same++ if $first eq $counts;
		diag("$i: $first\n$counts") if $first ne $counts && !$all;
	}
	say_spread($program->[0], @counts) if $all;
	if ($may_differ{$program->[0]}) {
		ok($same == $runs || @{$report->{reproducible}{differs}}, "$program->[0]: $same of $runs are the same, " .
			"and what differs is named: @{$report->{reproducible}{differs}}");
		next;
	}
	is($same, $runs, "$program->[0]: $runs runs, one count");
	is_deeply($report->{reproducible}{differs}, [], "$program->[0]: nothing is said to differ")
		unless $program->[0] =~ /^(sort|xz|sqlite3|python3)$/;
}

# ---- what is pinned ----
{
	my ($report, $run) = counts(0, './found', 'time');
	is($run->{out}, "1704067200 slept\n", 'the clock begins at its date, and goes on while it sleeps');
	is_deeply([grep { /^HOME/ } @{$report->{reproducible}{environment}}], ['HOME=/nonexistent'],
		'a home that nobody has');
	($report) = counts(0, './found', 'pid');
	is_deeply($report->{reproducible}{differs}, ['process numbers'], 'who asks for its number is told');
	($report) = counts(0, './found', 'by-hand');
	is_deeply($report->{reproducible}{differs}, ['process numbers'], 'so is who asks by syscall(2)');
	($report, $run) = counts(0, './found', 'user');
	is($run->{out}, "0 0\n", 'the number of the user is pinned there, too');
	($report) = counts(0, './pool', 'sleep');
	is_deeply($report->{reproducible}{differs}, ['turns of threads'], 'so are threads of which one sleeps for a time');
	my $text = run(command => [cli(), '-m', 'skylake-sp', '--reproducible', "$work/found", 'pid']);
	like($text->{err}, qr/^pinned .*\n? .*differ all\s+the\s+same:\s+process numbers/m, 'and the text says it');
	$text = run(command => [cli(), '--reproducible', "$work/found"]);
	like($text->{err}, qr/the\s+host's\s+caches/, 'so is who simulates this host');
	$text = run(command => [cli(), '-m', 'skylake-sp', '--reproducible=KEPT,ALSO_*', 'env'],
		env => {KEPT => 1, ALSO_THIS => 2, NOT_THIS => 3});
	like($text->{out}, qr/^KEPT=1$/m, 'a variable that was named');
	like($text->{out}, qr/^ALSO_THIS=2$/m, 'one by its prefix');
	unlike($text->{out}, qr/^(NOT_THIS|CACHEPEEK__PAD|CACHEPEEK_MACHINE)/m, 'no other, and none of ours');
	# The commands that simulate a program, too.
	for my $command (map { [$_, '-m', 'skylake-sp'] } qw(dcache compare sharing)) {
		$text = run(command => [cli(), @$command, '--reproducible=KEPT', '-o', "$work/other.txt", 'env'],
			env => {HOME => $work, KEPT => 1, NOT_THIS => 3});
		is(join(' ', sort grep { /^(HOME|KEPT|NOT_THIS)=/ } split(/\n/, $text->{out})), 'HOME=/nonexistent KEPT=1',
			"$command->[0] --reproducible") or diag($text->{err});
	}
	for my $command (qw(dcache dtlb icache sharing compare)) {
		run(command => [cli(), $command, '-m', 'skylake-sp', '--reproducible', '-o', join(',', map { "$work/differs.$_" } qw(txt json)), "$work/found", 'pid']);
		like(read_file("$work/differs.txt"), qr/^(?:warning: )?what may differ between runs all the same: process numbers$/m,
			"$command: the text names what may differ");
		my $json = decode_json(read_file("$work/differs.json"));
		is_deeply([grep { /process numbers/ } @{$json->{differs} // $json->{warnings}}],
			[($command eq 'compare' ? '' : 'what may differ between runs all the same: ') . 'process numbers'], '... and so does the JSON');
		run(command => [cli(), $command, '-m', 'skylake-sp', '-o', "$work/differs.txt", "$work/found", 'pid']);
		unlike(read_file("$work/differs.txt"), qr/may differ/, '... only where it was asked to be the same');
	}
	run(command => [cli(), 'compare', '-m', 'skylake-sp,host', '--reproducible', '-o', "$work/differs.txt", "$work/found"]);
	like(read_file("$work/differs.txt"), qr/may differ between runs all the same: the host's caches$/m, 'compare with this host');
	# A virtual machine's clock is measured elsewhere, and no two measurements are the same.
	my ($told) = read_file('/proc/cpuinfo') =~ /^cpu MHz\s*: ([0-9]+)/m;
	for my $command ([], ['compare', '-m', 'host,zen4', '-g', 'time']) {
		run(command => [cli(), @$command, @$command ? () : qw(-E sim -m host -g time), '--reproducible', '-o', "$work/clock.json", "$work/found"]);
		my $report = decode_json(read_file("$work/clock.json"));
		my $of = ($report->{machines} || $report->{regions})->[0];
		my $seconds = ($of->{time_s} || $of->{metrics}{predicted_time})->{value};
	SKIP: {
			skip 'this host tells its clock, or its time is not modelled', 1
				if -e '/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq' || !$told || !$seconds || read_file('/proc/cpuinfo') !~ / hypervisor /;
			cmp_ok(abs($of->{counts}{cycles}{value} / $seconds / 1e6 / $told - 1), '<', 0.001, "@$command: seconds are by the clock that is told");
		}
	}
	$text = run(command => [cli(), 'sharing', '--reproducible']);
	is(status_text($text->{status}) . $text->{err}, "exit 2cachepeek: --reproducible: no program to run\n", 'sharing without a program: refused');
	for my $wrong ([qr/expected with the simulated PMU/, '-E', 'perf', 'true'], [qr/no program to run/],
		[qr/goes without --reproducible/, '-i', 'perf.data']) {
		my ($why, @with) = @$wrong;
		$text = run(command => [cli(), 'dcache', '--reproducible', @with]);
		is(status_text($text->{status}), 'exit 2', "dcache --reproducible @with: refused");
		like($text->{err}, qr/^cachepeek: .*$why.*$/, 'in a line that says why');
	}
}

# Whoever runs it, the program finds that it is 0, and that its files are.
SKIP: {
	skip($no_other, 11) if $no_other;
	my $place = "$work/owned";
	my @nobody = as_user();
	my $look = 'id -u; id -g; id -G; touch own; chown 0:0 own && stat -c "%u %g" own /etc; rm own';
	# The same of one process, and not of seven.
	my @look = (which('perl'), '-e', 'my %seen; print("$>\n", $) + 0, "\n", join(" ", grep { !$seen{$_}++ } split(" ", $))), "\n"); ' .
		'open(my $own, ">", "own"); chown(0, 0, "own") || die("chown: $!\n"); print(join(" ", (stat)[4, 5]), "\n") for qw(own /etc)');
	mkdir($place);
	chmod(0777, $place);
	my %of = map {
		my ($name, $as, $keeps, @inside) = @$_;
		my @looks = $name eq 'nobody' ? ('sh', '-c', $look) : @look;
		my $json = "$place/$name.json";
		my $run = run(command => [@$as, cli(), '-m', 'skylake-sp', "--reproducible$keeps", '-o', $json, @inside, @looks],
			cwd => $place, env => {XDG_CACHE_HOME => $place});
		unlink("$place/own");
		($name => [$run->{out}, decode_json(read_file($json) || 'null')->{reproducible}{differs}, $run->{err}]);
	} ['nobody', \@nobody, ''], ['root', [], ''], ['kept', \@nobody, '=UID'], ['inside', [], '', @nobody];
	is($of{nobody}[0], "0\n0\n0\n0 0\n0 0\n", 'another user is shown 0, and files as its own') or diag($of{nobody}[2]);
	is($of{root}[0], $of{nobody}[0], 'as root is');
	is_deeply([grep { /user/ } @{$of{$_}[1]}], [], "$_: nothing is said of users") for qw(nobody root);
	like($of{kept}[0], qr/\A(65534\n){3}/, '--reproducible=UID: the number as it is');
	is_deeply([grep { /user/ } @{$of{kept}[1]}], ['numbers of the user'], 'which the report says');
	like($of{kept}[2], qr/chown.*not permitted/, 'and 0 is root');
	my $vector = run(command => [@nobody, cli(), '-m', 'skylake-sp', '--reproducible=LD_SHOW_AUXV', '-o', "$place/vector.json", 'true'],
		cwd => $place, env => {XDG_CACHE_HOME => $place, LD_SHOW_AUXV => 1});
	my @numbers = $vector->{out} =~ /^(AT_E?[UG]ID: +\d+)$/mg; # those of the launcher come first
	is(join(' ', map { s/ +//r } @numbers[-4 .. -1]), 'AT_UID:0 AT_EUID:0 AT_GID:0 AT_EGID:0', 'the auxiliary vector has 0, too');
	like($of{inside}[0], qr/\A(65534\n){3}/, 'one that the program takes on is shown as it is');

	# Each system call that tells an owner, as programs older than statx(2) make them.
	write_file("$work/owners.c", <<'END');
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static struct stat at;
static void tell(const char *call, long result)
{
	printf("%s %ld %u %u\n", call, result, at.st_uid, at.st_gid);
	at = (struct stat){.st_uid = 7, .st_gid = 7};
}
#ifdef __x86_64__
static long by_hand(long number, const void *of)
{
	__asm__ volatile("syscall" : "+a"(number) : "D"(of), "S"(&at) : "rcx", "r11", "memory");
	return number;
}
#endif
int main(int argc, char **argv)
{
	const char *name = argv[argc - 1];
	unsigned id[3];
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	tell("newfstatat", fstatat(AT_FDCWD, name, &at, 0));
#ifdef __x86_64__
	tell("fstat", by_hand(SYS_fstat, (void *)(long)fd));
	tell("stat", by_hand(SYS_stat, name));
	tell("lstat", by_hand(SYS_lstat, name));
#endif
	printf("getresuid %d", getresuid(&id[0], &id[1], &id[2]));
	printf(" %u %u %u\n", id[0], id[1], id[2]);
	printf("getresgid %d", getresgid(&id[0], &id[1], &id[2]));
	printf(" %u %u %u\n", id[0], id[1], id[2]);
	return fd < 0;
}
END
	is(status_text(run(command => [$cc, '-o', "$work/owners", "$work/owners.c"])->{status}), 'exit 0', 'owners: built');
	my $owners = run(command => [@nobody, cli(), '-m', 'skylake-sp', '--reproducible', '-o', "$place/owners.json", "$work/owners",
		"$place/new"], cwd => $place, env => {XDG_CACHE_HOME => $place});
	is(join('', grep { !/ 0( 0)+$/ } split(/^/, $owners->{out})), '', 'whatever asks for owners is told 0') or diag($owners->{err});
}

# Deadlines are the kernel's while it waits.
{
	write_file("$work/wait.c", <<'END');
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;
	int result;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	result = pthread_cond_timedwait(&never, &lock, &until);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	printf("%d %d\n", result == ETIMEDOUT, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
	return 0;
}
END
	run(command => [$cc, '-pthread', '-o', "$work/wait", "$work/wait.c"]);
	my $run = run(command => [cli(), '-m', 'skylake-sp', '--reproducible', "$work/wait"]);
	is($run->{out}, "1 0\n", 'waits until a point in time end there');
}

# A list of libraries that is longer, as when a package was installed: libc lies where it did.
SKIP: {
	my $longer = read_file('/etc/ld.so.cache') or skip('no list of libraries', 2);
	write_file("$work/cache", $longer . "\0" x 40960);
	my @elsewhere = ('unshare', '-m', 'sh', '-c', "mount --bind $work/cache /etc/ld.so.cache && exec \"\$@\"", 'sh');
	skip('no file can be mounted over another', 2) unless which('unshare') && !run(command => [@elsewhere, 'true'])->{status};
	write_file("$work/where.c", <<'END');
#include <stdio.h>
int main(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = (unsigned long)puts / 4096 % 1000; i > 0; i--)
		sum += i;
	return 0;
}
END
	is(status_text(run(command => [$cc, '-fPIE', '-pie', '-o', "$work/where", "$work/where.c"])->{status}), 'exit 0', 'where: built');
	my @instructions = map {
		run(command => [@$_, cli(), '-m', 'skylake-sp', '--reproducible', '-o', "$work/where.json", "$work/where"]);
		region(decode_json(read_file("$work/where.json")))->{counts}{instructions}{value};
	} [], \@elsewhere;
	is($instructions[1], $instructions[0], 'what lies behind a longer list of libraries counts the same');
}

# Newer C libraries write a thread's number before its function is called, and all of them
# have more to do there where it is to run on certain processors.
{
	write_file("$work/begins.c", <<'END');
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
static volatile long sum;
static void *work(void *unused) { for (int i = 0; i < 1000; i++) sum += i; return unused; }
int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	cpu_set_t all;
	pthread_t thread;

	(void)argv;
	pthread_attr_init(&attributes);
	sched_getaffinity(0, sizeof(all), &all);
	if (argc > 1)
		pthread_attr_setaffinity_np(&attributes, sizeof(all), &all);
	return pthread_create(&thread, &attributes, work, NULL) || pthread_join(thread, NULL);
}
END
	is(status_text(run(command => [$cc, '-pthread', '-o', "$work/begins", "$work/begins.c"])->{status}), 'exit 0', 'begins: built');
	my @threads = map {
		my $json = "$work/begins.json";
		run(command => [cli(), '-m', 'skylake-sp', '--reproducible', '-o', $json, "$work/begins", @$_]);
		my ($process) = @{decode_json(read_file($json) || '{"processes": []}')->{processes}};
		my ($thread) = grep { $_->{tid} != $process->{pid} } @{$process->{threads}};
		$thread->{regions}[0]{counts}{instructions}{value};
	} [], ['pinned'];
	is($threads[1], $threads[0], 'a thread is counted from its function on');
	my $run = run(command => [cli(), '-m', 'skylake-sp', '-o', "$work/begins.json", "$work/begins"]);
	is(status_text($run->{status}), 'exit 0', '... and without --reproducible it runs as well');
}

# Threads in a PID namespace of their own, where /proc is of another one: their turns are known.
SKIP: {
	my @inside = qw(unshare --pid --fork);
	skip('no namespaces', 1) unless which('unshare') && !run(command => [@inside, 'true'])->{status};
	my @counts = map {
		run(command => [@$_, cli(), '-m', 'skylake-sp', '--reproducible', '-o', "$work/inside.json", "$work/threads"]);
		my $report = decode_json(read_file("$work/inside.json") // 'null');
		unlink("$work/inside.json");
		$report && join(' ', region($report)->{counts}{instructions}{value}, @{$report->{reproducible}{differs}});
	} [], \@inside;
	is($counts[1], $counts[0], 'threads in a PID namespace without a /proc of its own');
}

# A child has the run, and what its parent was given.
{
	my ($report, undef) = counts(0, 'sh', '-c', 'sort text | gzip -c; exit 0');
	is(join(' ', sort map { $_->{exe} =~ s{.*/}{}r } leaves($report)), 'dash gzip sort', 'children are in the report')
		if readlink('/bin/sh') && readlink('/bin/sh') =~ /dash/;
	ok(scalar(@{$report->{processes}}) >= 3, 'all of them');
}
done_testing();
