#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The report at the end of a program is written by another one, which lies beside the
# library: the program sees nothing of it, and where it cannot be started, the record stays
# and one line says what writes the report.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

need_perf();
my @engines = grep { !why_not($_) } qw(perf sim);
my $runs = 0;
sub directory
{
	my $directory = scratch(sprintf('reporter-%02d', ++$runs));
	mkdir($directory, 0755) or die;
	return $directory;
}

# ---- what the program sees ----

for my $engine (@engines) {
	for my $how (qw(nothing handler ignore waits)) {
		my @command = (program('ends_watching'), $how);
		my $plain = run(command => \@command);
		my $run = peek(engine => $engine, command => \@command);
		is(status_text($run->{status}), 'exit 7', "$engine, $how: its own status");
		is($run->{out}, $plain->{out}, "$engine, $how: it sees no child");
		is($run->{err}, '', "$engine, $how: no errors");
		is(notes($run), 0, "$engine, $how: nothing to say") or diag(@{$run->{notes}});
		ok($run->{report}, "$engine, $how: and there is a report");
	}
	my $run = peek(engine => $engine, command => [program('ends_watching'), 'blind']);
	is(status_text($run->{status}) . $run->{out} . $run->{err}, "exit 7the end\n", "$engine: without descriptors, as alone");
	ok($run->{report}, "$engine: and there is a report");
	my $directory = directory();
	$run = run(command => ['sh', '-c', '{ trap - PIPE; "$@"; echo $? >&2; } | true', 'sh', 'sh', '-c', 'sleep 1; exec "$@"', 'sh',
		'env', 'LD_PRELOAD=' . lib(), "CACHEPEEK_ENGINE=$engine", 'CACHEPEEK_OUTPUT=-', "CACHEPEEK_DIR=$directory", program('region_pages'), 1, 0]);
	is($run->{out}, '', "$engine: stdout is a pipe that nobody reads");
	like($run->{err}, qr/^cachepeek: output -: .*pipe.*\n0$/m, "$engine: ... which is said, and the status is the program's");
}

# A program whose children have a namespace that is over.
SKIP: {
	my @unshare = ('unshare', '--pid', '--fork');
	skip('no namespaces of PIDs here', 3) if run(command => [@unshare, 'true'])->{status};
	my $run = peek(engine => 'perf', command => [@unshare, 'sh', '-c', 'echo $$; exit 3']);
	is(status_text($run->{status}) . " $run->{out}", "exit 3 1\n", 'children in a namespace of their own: as alone');
	is(notes($run), 0, '... nothing to say') or diag(@{$run->{notes}});
	ok($run->{report}, '... and there is a report');
}

# ---- what it is given ----

# A place with the library, and what stands in for the program that writes the report.
sub place
{
	my ($script) = @_;
	my $place = directory();
	mkdir("$place/libcachepeek");
	system('cp', lib(), $place);
	if (defined $script) {
		write_file("$place/libcachepeek/reporter", "#!/bin/sh\n$script\n");
		chmod(0755, "$place/libcachepeek/reporter");
	}
	return $place;
}

sub end_with
{
	my ($place, %run) = @_;
	my $directory = directory();
	my $run = run(%run, command => $run{command} || [program('region_pages'), 10, 0], env => {LD_PRELOAD => "$place/libcachepeek.so",
		CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS', CACHEPEEK_DIR => $directory, %{$run{env} || {}}});
	return ($run, $directory);
}

my $told = scratch('told');
# From 10 on descriptors are the shell's, which keeps its stdout there meanwhile.
for (['stderr', qr{ 1\d -> /dev/null}], ['-', qr{ 1\d -> \S+\.out}]) {
	my ($output, $stdout) = @$_;
	my ($seen) = place("{ env; ls -l /proc/\$\$/fd; grep SigBlk /proc/\$\$/status; } > $told");
	my ($run) = end_with($seen, command => ['sh', '-c', 'exec 7< /dev/null; exec "$@"', 'sh', program('region_pages'), 10, 0], env => {CACHEPEEK_OUTPUT => $output, SECRET => 'of the program', LD_LIBRARY_PATH => '/nowhere'});
	my $text = read_file($told) // '';
	is($run->{status}, 0, "output $output: the program's status");
	is(join(' ', sort grep { !/^(?:PWD|OLDPWD|SHLVL|_)$/ } $text =~ /^(\w+)=/mg), 'CACHEPEEK_DISABLE', '... it has no variable of the program');
	like($text, qr{ 0 -> /dev/null}, '... nor its stdin');
	like($text, $stdout, '... of its stdout, what the output takes');
	like($text, qr{ 2 -> \S+\.err}, '... and its stderr');
	is(scalar(grep { $_ > 2 && $_ < 10 } $text =~ / (\d+) -> /g), 0, '... and nothing else');
}

for my $output ('/dev/fd/5', '/dev/stdout') {
	my ($file, $directory) = (scratch('by-number'), directory());
	my $run = run(command => ['sh', '-c', 'exec 5> "$1"; shift; exec "$@"', 'sh', $file, 'env', 'LD_PRELOAD=' . lib(), program('region_pages'), 10, 0],
		env => {CACHEPEEK_OUTPUT => $output, CACHEPEEK_ENGINE => 'perf', CACHEPEEK_DIR => $directory});
	like($output eq '/dev/stdout' ? $run->{out} : read_file($file), qr/^ *touch /m, "$output: the report is there");
	is($run->{err} =~ s/^cachepeek: software .*\n//r, '', '... and nothing to say');
}

# The parts of reports are not in every process of a run.
unlike(read_file(lib()), qr/<html|chart\.js/i, 'no page is in the library');
like(read_file(build() . '/libcachepeek/reporter'), qr/<html.*chart\.js/is, '... but in what writes the report');

# ---- where it cannot be started ----

my $line = qr/`cachepeek report (\S+)` writes it\n\z/;
my $denied = place('exit 0');
chmod(0644, "$denied/libcachepeek/reporter");
for (['it is not there', place(), qr/cannot be started \(no such file or directory\)/],
	['it may not be executed', $denied, qr/cannot be started \(permission denied\)/],
	['it is killed', place('kill -9 $$'), qr/was killed/],
	['it is of another version', place('exit 3'), qr/is of another version of cachepeek/]) {
	my ($what, $where, $why) = @$_;
	my ($run, $directory) = end_with($where);
	is($run->{status}, 0, "$what: the program's status");
	like($run->{err}, qr/\Acachepeek: no report: what writes it $why: $line/, "$what: one line");
	my $report = kept_report($directory);
	is(value(region($report, 'touch'), 'perf::PAGE-FAULTS'), 10, "$what: and what was counted is there");
}
{
	# Another file by now: it may be somebody else's.
	my $place = place('exit 0');
	write_file("$place/libcachepeek/other", "#!/bin/sh\ntouch $place/was-run\n");
	chmod(0755, "$place/libcachepeek/other");
	my ($run) = end_with($place, command => ['mv', "$place/libcachepeek/other", "$place/libcachepeek/reporter"]);
	is($run->{status}, 0, 'it is replaced meanwhile: the program\'s status');
	like($run->{err}, qr/\Acachepeek: no report: what writes it cannot be started \(.*\): $line/, '... one line');
	ok(!-e "$place/was-run", '... and what is there now is not run');
}
SKIP: {
	skip(no_other_user(), 3) if no_other_user();
	my $directory = directory();
	chmod(0777, $directory);
	my $run = peek(engine => 'perf', under => [as_user()], command => [program('ends_watching'), 'none'], env => {CACHEPEEK_DIR => "$directory/run"});
	is(status_text($run->{status}) . $run->{out}, "exit 7the end\n", 'no process more is allowed: as alone');
	is(notes($run), 1, '... one line') or diag(@{$run->{notes}});
	like($run->{notes}[0], qr/cannot be started \(.*\): $line/, '... says so');
}
done_testing();
