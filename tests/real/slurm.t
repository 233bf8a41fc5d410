#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Jobs that Slurm starts, on one node of our own on loopback: srun and sbatch, with PMIx
# and PMI2, under the library in every way, and mpirun inside an allocation.  Each rank
# is counted once, and nothing else is.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e", $FindBin::Bin;
use IO::Socket::INET;
use Mpi;
use Peek;
use POSIX ();
use Test::More;

# Longer than all of it takes: no daemon stays if this test is killed.
my $LONGEST = 400;

plan(skip_all => "not root: Slurm's node daemon has to be") unless root();
for my $needed (qw(srun sbatch salloc sinfo slurmctld slurmd munged)) {
	plan(skip_all => "no $needed") unless grep { -x "$_/$needed" } '/usr/bin', '/usr/sbin';
}
need_perf();

# ---- one node ----

my $at = scratch('slurm');
my $host = (split(/\./, (POSIX::uname())[1]))[0];
my @daemons;

sub free_port
{
	my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!";
	return $socket->sockport;
}

sub start
{
	my ($name, @command) = @_;
	my $pid = fork() // die "fork: $!";
	unless ($pid) {
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>', "$at/$name.out");
		open(STDERR, '>&', \*STDOUT);
		exec('timeout', $LONGEST, "/usr/sbin/$name", @command) or POSIX::_exit(127);
	}
	unshift(@daemons, $pid);
}

sub stop
{
	for my $pid (splice(@daemons)) {
		kill('TERM', $pid);
		waitpid($pid, 0);
	}
}
my $tester = $$;
END { if ($$ == $tester) { my $status = $?; stop(); $? = $status } }
$SIG{$_} = sub { exit(1) } for qw(INT TERM HUP);

chmod(0755, scratch());
mkdir($_, 0755) for $at, map { "$at/$_" } qw(munge state spool);
open(my $random, '<:raw', '/dev/urandom') or die;
read($random, my $key, 1024);
write_file("$at/munge/key", $key);
chmod(0600, "$at/munge/key");
my ($control, $node) = (free_port(), free_port());
$ENV{SLURM_CONF} = write_file("$at/slurm.conf", <<"CONF");
ClusterName=scratch
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$at/munge/socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=$control
SlurmdPort=$node
SlurmctldPidFile=$at/slurmctld.pid
SlurmdPidFile=$at/slurmd.pid
SlurmdSpoolDir=$at/spool
StateSaveLocation=$at/state
SlurmctldLogFile=$at/slurmctld.log
SlurmdLogFile=$at/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP OverSubscribe=FORCE
CONF
start('munged', '-F', '--force', "--key-file=$at/munge/key", "--socket=$at/munge/socket", "--pid-file=$at/munge/pid",
	"--log-file=$at/munge/log", "--seed-file=$at/munge/seed");
wait_until(sub { -S "$at/munge/socket" });
start('slurmctld', '-D', '-c', '-f', $ENV{SLURM_CONF});
start('slurmd', '-D', '-c', '-f', $ENV{SLURM_CONF});
unless (wait_until(sub { run(command => ['sinfo', '-h', '-o', '%T'])->{out} =~ /^idle/ })) {
	diag(map { read_file($_) // '' } glob("$at/*.log $at/*.out"));
	plan(skip_all => 'Slurm does not start here: its messages are above');
}

# ---- what ran ----

my %engines = (perf => 'perf::PAGE-FAULTS', sim => 'l1d_misses');
my %implementations = implementations();
my $preload = 'LD_PRELOAD=' . lib();
my $json = scratch('job.json');

sub settings { my ($engine) = @_; return {CACHEPEEK_ENGINE => $engine, CACHEPEEK_EVENTS => $engines{$engine}, CACHEPEEK_OUTPUT => $json} }

sub check_touch
{
	my ($what, $engine, $report) = @_;
	my $count = region($report, 'touch');
	$count = $count ? $count->{counts}{$engines{$engine}} : {};
	is(join(' ', map { $_ // '-' } @$count{qw(value min max)}), '1000 100 400', "$what: 1,000 pages, from 100 to 400");
	is_deeply($report->{ranks}, {recorded => 4, of => 4, processes => 4, missing => []}, "$what: four ranks, and nothing else");
}

sub check_way
{
	my ($what, $engine, @command) = @_;
	unlink(glob(scratch('job*.json')));
	my $run = run(command => \@command, env => settings($engine));
	is(status_text($run->{status}), 'exit 0', "$what: the status") or diag($run->{err});
	unlike($run->{err}, qr/cachepeek/, "$what: nothing is said");
	check_touch($what, $engine, read_json($json));
	is(scalar(() = glob(scratch('job.*.json'))), 0, "$what: there is no other report");
}

sub script
{
	my (@words) = @_;
	write_file(scratch('batch.sh'), "#!/bin/sh\n@words\n");
	return ('sbatch', '--wait', '-Q', '-n', 4, '-o', scratch('batch.out'), scratch('batch.sh'));
}

my %plugin = (openmpi => 'pmix', mpich => 'pmi2');
for my $name (sort keys %plugin) {
	my $mpi = $implementations{$name};
	SKIP: {
		skip("no $name", 1) unless has($mpi);
		my $exe = built($name, "touch-$name", $mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions',
			source() . '/tests/mpi/touch.c') or next;
		my @srun = ('srun', "--mpi=$plugin{$name}", '-n', 4);
		my $plain = run(command => [@srun, $exe]);
		skip("srun --mpi=$plugin{$name} does not start $name: $plain->{err}", 1) if $plain->{status};
		my %ways = (
			'the library is set for srun' => ['env', $preload, @srun, $exe],
			'cachepeek srun' => [cli(), @srun, $exe],
			'srun cachepeek' => [@srun, cli(), $exe],
			'cachepeek sh -c srun' => [cli(), 'sh', '-c', "@srun $exe; true"],
			'timeout srun' => ['env', $preload, 'timeout', 100, @srun, $exe],
			'an allocation, and its own mpirun' => ['salloc', '-Q', '-n', 4, cli(), @{$mpi->{run}}, '-n', 4, $exe],
		);
		for my $way (sort keys %ways) {
			check_way("$name, perf: $way", 'perf', @{$ways{$way}});
		}
		check_way("$name, perf: a batch script with cachepeek", 'perf', script(cli(), @srun, $exe));
		check_way("$name, perf: a batch script with the library", 'perf', script($preload, @srun, $exe));
		check_way("$name, sim: $_", 'sim', @{$ways{$_}}) for 'the library is set for srun', 'cachepeek srun';

		# The example, as users have it.
		{
			unlink(glob(scratch('app-*')));
			my $run = run(command => ['sbatch', '--wait', '-Q', source() . '/examples/slurm.sh', $exe], cwd => scratch(),
				env => {%{settings('perf')}, CACHEPEEK_OUTPUT => undef, CACHEPEEK_PRELOAD => lib(), SLURM_MPI_TYPE => $plugin{$name}});
			is(status_text($run->{status}), 'exit 0', "$name: examples/slurm.sh") or diag($run->{err}, map { read_file($_) } glob(scratch('app-*.out')));
			my ($file) = glob(scratch('app-*.json'));
			check_touch("$name: examples/slurm.sh", 'perf', read_json($file // ''));
		}

		# Two steps of one command are two jobs.
		unlink(glob(scratch('job*.json')));
		run(command => [cli(), 'sh', '-c', "@srun $exe; @srun $exe; true"], env => settings('perf'));
		check_touch("$name, two steps: the first", 'perf', read_json($json));
		check_touch("$name, two steps: the second", 'perf', read_json(scratch('job.2.json')));
	}
}
done_testing();
