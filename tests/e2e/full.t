#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# No space for the run's records, on whatever file system: the program does what it
# does alone, and what was recorded and what was not add up.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

# Mounts of this test go with it.
if (root() && !$ENV{FULL_ALONE}) {
	$ENV{FULL_ALONE} = 1;
	exec('unshare', '-m', '--propagation', 'private', $^X, $0) if system('unshare -m true') == 0;
}

my $many = 300;
my @engines = (can_count('software') ? ['perf', 'perf::PAGE-FAULTS'] : (), ['sim', 'instructions']);
my $place = scratch('place');
mkdir($place) or die "$place: $!";

sub command_of { program('many_regions'), $many }

# The regions that the report has, and the executions that it says it lacks.
sub recorded
{
	my ($report) = @_;
	my $calls = 0;
	$calls += $_->{calls} for grep { @{$_->{path}} } @{$report->{regions}};
	my ($lacks) = map { /(\d+) region executions?.* could not be recorded/ } @{$report->{warnings}};
	return ($calls, $lacks || 0);
}

# One run with its records in $place; the ways it may go: "all", "some", "none".
sub ok_run
{
	my ($what, $engine, $events, %more) = @_;
	my $directory = "$place/run";
	my $command = $more{command} || [command_of()];
	my $plain = run(command => [@{$more{under} || []}, @$command]);
	my @under = @{$more{under} || []};
	my $with = run(command => [@under, @under ? ('env', 'LD_PRELOAD=' . lib()) : (), @$command], env => {
		LD_PRELOAD => @under ? undef : lib(), CACHEPEEK_ENGINE => $engine, CACHEPEEK_EVENTS => $events,
		CACHEPEEK_DIR => $directory, CACHEPEEK_OUTPUT => '/dev/null', CACHEPEEK_CHILDREN => 'ignore',
		%{$more{env} || {}}});
	my @said = grep { /^cachepeek: / } split(/^/, $with->{err});
	my $way = 'none';
	my $report = kept($directory);
	run(command => ['rm', '-rf', $directory]);
	subtest "$engine: $what" => sub {
		is($with->{out}, $plain->{out}, 'same output');
		is(status_text($with->{status}), 'exit 0', 'same status') or diag($with->{err});
		if (grep { /no run record in|no place for the run/ } @said) {
			is(scalar(@said), 1, 'one line: the process is not counted') or diag(@said);
			return;
		}
		ok($report, 'a report of what there is') or return;
		my ($calls, $lacks) = recorded($report);
		is($calls + $lacks, $more{calls} || $many, "recorded $calls, not recorded $lacks");
		is(scalar(@said), ($lacks ? 1 : 0) + ($more{also} || 0), 'one line where something is not') or diag(@said);
		$way = $lacks ? 'some' : 'all';
	};
	return $way;
}

# In the scratch directory: there is no room beside the records.
sub kept
{
	my ($directory) = @_;
	my $file = scratch('kept.json');
	unlink($file);
	run(command => [cli(), 'report', '-o', $file, $directory]);
	my $text = read_file($file);
	return defined $text ? Json::decode_json($text) : undef;
}

sub image
{
	my ($name, $kilobytes, @mke2fs) = @_;
	my $file = scratch($name);
	open(my $image, '>', $file) or die "$file: $!";
	truncate($image, $kilobytes << 10) or die "$file: $!";
	close($image);
	system('mke2fs', '-q', '-F', '-b', '1024', @mke2fs, $file) == 0 or return undef;
	return $file;
}

# Leaves so many KiB.
sub fill
{
	my ($left) = @_;
	unlink("$place/filler");
	run(command => ['sh', '-c', "dd if=/dev/zero of='$place/filler' bs=1k; truncate -s -${left}K '$place/filler'; sync"]);
}

sub mounted
{
	my (@arguments) = @_;
	return run(command => ['mount', @arguments, $place])->{status} == 0;
}

sub unmounted { system('umount', $place) == 0 or die 'umount' }

SKIP: {
	skip('no mounts: not root', 1) unless root();
	my $file = image('ext2', 1400, '-t', 'ext2');
	skip('no mounts here', 1) unless $file && mounted('-o', 'loop', $file);
	ok(system("fallocate -l 1K '$place/probe' 2> /dev/null") != 0, 'ext2 knows no fallocate');
	for my $engine (@engines) {
		my %ways;
		for my $left (0, 6, 20, 40, 90, 1000) {
			fill($left);
			$ways{ok_run("full ext2, $left KiB left", @$engine)}++;
		}
		is(join(' ', sort keys %ways), 'all none some', "$engine->[0]: full ext2, every way");
		fill(600);
		ok_run('full ext2, profile', 'sim', 'instructions', also => 1, env => {CACHEPEEK_PROFILE => 'dcache',
			CACHEPEEK_INTERVAL => '10ms'}) if $engine->[0] eq 'sim';
	}
	unmounted();
}

SKIP: {
	skip('no mounts here', 1) unless root() && mounted('-t', 'tmpfs', '-o', 'size=64k', 'none');
	for my $engine (@engines) {
		my %ways;
		for my $left (4, 48) {
			fill($left);
			$ways{ok_run("full tmpfs, $left KiB left", @$engine)}++;
		}
		is(join(' ', sort keys %ways), 'none some', "$engine->[0]: full tmpfs, both ways");
	}
	unmounted();
}

# A user's quota; root has none.
SKIP: {
	my $file = root() ? image('quota', 4000, '-t', 'ext4', '-O', 'quota', '-E', 'quotatype=usrquota') : undef;
	skip(no_other_user(), 1) if $file && no_other_user();
	skip('no quota here: the kernel, or mke2fs, knows none', 1)
		unless $file && mounted('-o', 'loop,usrquota', $file);
	chmod(0777, $place);
	my ($device) = run(command => ['findmnt', '-n', '-o', 'SOURCE', $place])->{out} =~ /(\S+)/;
	# struct if_dqblk: 40 KiB; Q_SETQUOTA of users.
	my $limits = pack('Q8Lx4', 40, 40, 0, 0, 0, 0, 0, 0, 1);
	is(syscall(179, 0x800008 << 8, $device, 65534, $limits), 0, 'a quota is set');
	for my $engine (@engines) {
		is(ok_run('quota', @$engine, under => [as_user()]), 'some', "$engine->[0]: quota: some");
	}
	unmounted();
}

# Errors make the file system read-only, with the record open.
SKIP: {
	my $file = root() ? image('ext4', 8000, '-t', 'ext4', '-e', 'remount-ro') : undef;
	skip('no mounts here', 1) unless $file;
	for my $engine (@engines) {
		skip('no mounts here', 1) unless mounted('-o', 'loop', $file);
		my ($device) = run(command => ['findmnt', '-n', '-o', 'SOURCE', $place])->{out} =~ m{/dev/(\S+)};
		my $trigger = "/sys/fs/ext4/$device/trigger_fs_error";
		if (!open(my $writes, '>', $trigger)) {
			unmounted();
			skip("no $trigger that can be written", 1);
		}
		# The second time in the plain run, which comes first, it is read-only.
		my $break = "touch '$place/first' 2>/dev/null && test -d '$place/run' && echo x > $trigger; true";
		is(ok_run('ext4 that goes read-only', @$engine, calls => 2 * $many,
			command => [program('region_stops'), $many, $break]), 'some', "$engine->[0]: read-only: some");
		ok(!open(my $none, '>', "$place/new"), "$engine->[0]: it is read-only");
		unmounted();
		run(command => ['e2fsck', '-fy', $file]);
	}
}

for my $engine (@engines) {
	my %ways;
	for my $size (100, 8192, 16384, 40000, 65536, 1 << 20) {
		$ways{ok_run("RLIMIT_FSIZE of $size", @$engine,
			under => ['prlimit', "--fsize=$size"])}++;
	}
	is(join(' ', sort keys %ways), 'all none some', "$engine->[0]: RLIMIT_FSIZE, every way");
}
done_testing();
