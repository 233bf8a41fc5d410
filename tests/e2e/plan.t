#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The plan of what is counted is made once in a run: the images and processes that follow take
# it from the run's directory, if it is theirs and whole, and decide anew if not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $runs = 0;

# A shell's run in a directory of its own: the run, and the directory.
sub shell {
	my ($script, %options) = @_;
	my $directory = scratch('run' . ++$runs);
	mkdir($directory);
	my $run = peek(command => ['/bin/sh', '-c', $script, 'sh', $directory], %options,
		env => {CACHEPEEK_DIR => $directory, %{$options{env} || {}}});
	is(status_text($run->{status}), 'exit 0', $script);
	return ($run, $directory);
}

sub plans { my ($directory) = @_; return scalar(() = glob("$directory/*.plan")) }
sub warned { my ($run, $what) = @_; return scalar(grep { /$what/ } @{$run->{report}{warnings} || []}) }
sub processes { my ($run) = @_; return scalar(@{$run->{report}{processes} || []}) }

my $file = scratch('small.machine');
my $cachegrind = read_file(source() . '/base/machines/cachegrind.machine');

# ---- the simulated PMU: the child, and its image inside, have no file to read ----

write_file($file, $cachegrind);
my ($run, $directory) = shell("rm $file; /bin/true; exec /bin/true", engine => 'sim',
	events => 'instructions,nosuch,l1d_misses', machine => $file);
ok(!-e $file, 'sim: the machine\'s file is gone');
is(processes($run), 4, 'all are counted');
is(warned($run, 'host'), 0, '... on that machine');
like($run->{report}{machine}{description} // $run->{json}, qr/small/, 'which the report names');
is(plans($directory), 1, 'by one plan');
is(scalar(grep { /nosuch/ } @{$run->{notes}}), 1, 'what cannot be counted is said once');

# ---- perf ----

SKIP: {
	skip('perf_event counts nothing here', 13) unless can_count('software');
	my %perf = (engine => 'perf', events => 'task_clock,page_faults,nosuch');

	($run, $directory) = shell('/bin/true; exec /bin/true', %perf);
	is(plans($directory), 1, 'perf: one plan');
	is(scalar(grep { /nosuch/ } @{$run->{notes}}), 1, 'what cannot be counted is said once, also after an exec');
	is(warned($run, 'unknown event nosuch'), 1, 'and is in the report');

	($run, $directory) = shell('/bin/true; sed -i "s/unknown event nosuch/UNKNOWN EVENT NOSUCH/" "$1"/*.plan; /bin/true', %perf);
	is(warned($run, 'UNKNOWN EVENT NOSUCH'), 1, 'perf: what the plan says is what a child knows');

	($run, $directory) = shell('/bin/true; for plan in "$1"/*.plan; do :> "$plan"; done; /bin/true', %perf);
	is(processes($run), 3, 'perf: a damaged plan is not taken');
	is(warned($run, 'unknown event nosuch'), 1, 'and the same is found again');
	is_deeply([map { $_->{exit}{how} . ' ' . $_->{exit}{code} } @{$run->{report}{processes}}], [('exit 0') x 3], 'by all');

	($run, $directory) = shell('/bin/true; CACHEPEEK_EVENTS=task_clock,elsewhere /bin/true', %perf);
	is(warned($run, 'unknown event elsewhere'), 1, 'perf: a child of other settings takes no plan of others');

	($run, $directory) = shell('exit 0', %perf);
	is(plans($directory), 0, 'perf: without a next image none is written');
}
done_testing();
