#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A program without an MPI that asks by weak references what there is: what it finds of
# ours does no harm, and is what cachepeek-differences(7) says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $plain = plain(command => [program('weak_mpi')]);
is($plain->{out} =~ s/^no MPI_\w+\n//gmr, '', 'alone: there is nothing');
for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	my $run = peek(engine => $engine, command => [program('weak_mpi')]);
	is($run->{out}, <<'END', "$engine: what is there, and what it returns");
no MPI_Init
no MPI_Initialized
no MPI_Get_version
MPI_Barrier returns 15
MPI_Bcast_c returns 15
MPI_Pcontrol returns 0
MPI_Finalize returns 0
END
	is($run->{err}, '', "$engine: no errors");
	is(status_text($run->{status}), 'exit 3', "$engine: same status");
	is(notes($run), 0, "$engine: nothing to say") or diag(@{$run->{notes}});
}
done_testing();
