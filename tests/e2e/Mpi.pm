# SPDX-License-Identifier: MIT
# Shared by the tests of MPI: the two implementations that Debian has, and jobs of
# them that are counted.
package Mpi;
use strict;
use warnings;
use Exporter qw(import);
use Json;
use Peek;
use Test::More;

our @EXPORT = qw(implementations has job merged read_json built of_ranks);

$ENV{OMPI_ALLOW_RUN_AS_ROOT} = $ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} = 1;
$ENV{"OMPI_MCA_$_->[0]"} = $_->[1]
	for ['rmaps_base_oversubscribe', 1], ['btl', 'self,vader'], ['mpi_yield_when_idle', 1];

sub implementations
{
	return (openmpi => {cc => 'mpicc.openmpi', fc => 'mpif90.openmpi', run => ['mpirun.openmpi', '--oversubscribe']},
		mpich => {cc => 'mpicc.mpich', fc => 'mpif90.mpich', run => ['mpiexec.hydra']});
}

sub has { my ($mpi) = @_; return which($mpi->{cc}) && which($mpi->{run}[0]) }

# A job; the library is set for the ranks only.
sub job
{
	my ($mpi, $ranks, $env, @program) = @_;
	my %env = (LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf', %$env);
	return run(command => [@{$mpi->{run}}, '-n', $ranks, 'env',
		map({ "$_=$env{$_}" } sort keys %env), @program]);
}

sub merged
{
	my ($directory) = @_;
	my $json = scratch('merged.json');
	my $merge = run(command => [cli(), 'merge', '-o', $json, $directory]);
	is($merge->{err}, '', 'merge has nothing to say');
	return decode_json(read_file($json) // '{}');
}

sub read_json
{
	my ($path) = @_;
	my $text = read_file($path);
	return defined $text ? decode_json($text) : undef;
}

# The reports of single ranks, by rank.
sub of_ranks
{
	my ($directory) = @_;
	my %reports;
	for my $record (glob("$directory/*.rec")) {
		my $report = decode_json(run(command => [cli(), 'report', '--json', $record])->{out});
		my $rank = $report->{processes}[0]{rank};
		fail("rank $rank has two records") if $reports{$rank};
		$reports{$rank} = $report;
	}
	return \%reports;
}

sub built
{
	my ($what, $exe, @command) = @_;
	my $build = run(command => [@command, '-o', scratch($exe)]);
	is($build->{status}, 0, "$what: compiles") || diag($build->{err});
	return $build->{status} ? undef : scratch($exe);
}

1;
