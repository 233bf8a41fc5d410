#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The batch scripts, as far as they run without their systems: PBS' with an mpiexec of this
# machine, Flux' with a command in the place of flux that hands over to it.  (Slurm's runs
# under Slurm: tests/real/slurm.t.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Test::More;

need_perf();
my %implementations = implementations();
my ($name) = grep { has($implementations{$_}) } qw(mpich openmpi);
plan(skip_all => 'no MPI (mpich, libmpich-dev, or openmpi-bin, libopenmpi-dev)') unless $name;
my $mpi = $implementations{$name};
my $exe = built($name, 'touch', $mpi->{cc}, '-O1', '-D_GNU_SOURCE', '-I' . source() . '/regions', source() . '/tests/mpi/touch.c')
	or BAIL_OUT('no program');

my $bin = scratch('bin');
mkdir($bin);
write_file("$bin/mpiexec", "#!/bin/sh\nexec @{[which($mpi->{run}[0])]} @{$mpi->{run}}[1 .. $#{$mpi->{run}}] \"\$@\"\n");
chmod(0755, "$bin/mpiexec");
write_file("$bin/flux", <<'SH');
#!/bin/sh
# flux run --ntasks=N --env=NAME=VALUE... COMMAND
[ "$1" = run ] || exit 2
shift
settings=
while :; do
	case $1 in
	--ntasks=*) n=${1#--ntasks=} ;;
	--env=*) settings="$settings ${1#--env=}" ;;
	-*) echo "flux: no option $1" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
exec mpiexec -n "$n" env $settings "$@"
SH
chmod(0755, "$bin/flux");

my %of = ('pbs.sh' => ['app-12.json', qr/^#PBS -l select=(\d+):ncpus=\d+:mpiprocs=(\d+)$/m],
	'flux.sh' => ['app.json', qr/^# flux: --(nslots)=(\d+)$/m]);
for my $script (sort keys %of) {
	my ($json, $directive) = @{$of{$script}};
	my $work = scratch("work-$script");
	mkdir($work);
	my $text = read_file(source() . "/examples/$script");
	my ($nodes, $each) = $text =~ $directive or fail("$script: how many ranks");
	is(($nodes =~ /^\d+$/ ? $nodes : 1) * $each, 4, "$script: asks for as many ranks as it starts");
	my $run = run(command => ['sh', source() . "/examples/$script", $exe], cwd => $work, env => {PATH => "$bin:$ENV{PATH}",
		CACHEPEEK_PRELOAD => lib(), CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS',
		PBS_O_WORKDIR => $work, PBS_JOBID => '12.server'});
	is(status_text($run->{status}), 'exit 0', "$script: runs") or diag($run->{err});
	my $report = read_json("$work/$json");
	is_deeply($report->{ranks}, {recorded => 4, of => 4, processes => 4, missing => []}, "$script: four ranks, and nothing else");
	my $count = region($report, 'touch');
	is($count ? $count->{counts}{'perf::PAGE-FAULTS'}{value} : undef, 1000, "$script: their pages");
	ok(-s "$work/" . $json =~ s/json$/txt/r, "$script: and the text");
	my ($missing) = run(command => ['sh', source() . "/examples/$script", $exe], cwd => $work,
		env => {PATH => "$bin:$ENV{PATH}"})->{err};
	like($missing, qr/module/, "$script: without the library it asks for the module");
}
done_testing();
