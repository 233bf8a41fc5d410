#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The one-way flow of the counts, seen in what each room includes:
#   hooks -> threads -> engine -> regions -> record -> report -> writers
# A folder is a room of its own: base/engine/ is not base/.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

# The rooms from the bottom up: room, and the rooms and headers that it may include besides
# itself.  Rooms stand below those that include them, so that there are no cycles.
my @base = qw(base base/text base/files);
my @simulator = qw(tools/sim/request.h tools/sim/ask.h);
# Valgrind's parts: any part of the tool asks.
my @valgrind = qw(tools/sim/valgrind);
my @records = qw(regions/job_records.h regions/jobdir.h regions/parcel.h regions/process_state.h regions/record.h regions/record_read.h);
my @model = qw(tools/profile/model output/report/report.h);
my @rooms = (
	['base' => []],
	['base/text' => [qw(base)]],
	['base/files' => [qw(base)]],
	['regions' => [@base]],
	['regions/fold' => [@base, 'regions']],
	['base/engine/arch' => []],
	['base/engine' => [@base, qw(base/engine/arch regions/samples.h), @simulator]],
	['base/encoder' => [qw(base)]],
	['output/metrics' => [@base]],
	['base/machine' => [@base, qw(output/metrics)]],
	['base/counters' => [@base, qw(base/encoder base/engine base/engine/arch base/machine regions output/metrics), @simulator]],
	['output/report' => [@base, qw(base/machine/machine.h output/metrics), @records]],
	['output/text' => [@base, qw(output/metrics output/report)]],
	['output' => [@base, qw(output/metrics output/report output/text)]],
	['preload/heap' => [qw(base/export.h)]],
	['preload/patch' => [qw(base base/files/build_id.h base/files/debug_path.h base/files/elf.h base/text)]],
	['preload/patch/aarch64' => [qw(base preload/patch)]],
	['preload/patch/x86_64' => [qw(base preload/patch)]],
	['preload/perfstubs' => []],
	['preload/libc' => [qw(base)]],
	['preload' => [@base, qw(base/counters base/machine base/engine regions regions/fold preload/libc), @simulator]],
	['preload/sampling' => [@base, qw(preload base/counters base/engine preload/heap regions), @simulator]],
	['preload/threads' => [@base, qw(base/counters base/engine preload preload/libc preload/sampling regions)]],
	['preload/program' => [@base, qw(base/counters base/engine base/machine preload preload/libc preload/sampling preload/threads), @simulator]],
	['preload/cases' => [@base, qw(preload preload/program regions)]],
	['preload/markers' => [@base, qw(base/counters base/engine preload preload/cases preload/libc preload/patch preload/program preload/sampling
		preload/threads regions), @simulator]],
	['preload/parallel' => [@base, qw(base/counters preload preload/libc preload/markers preload/threads regions), @simulator]],
	['tools/sim/lines' => []],
	['tools/sim/valgrind' => []],
	['tools/sim/units' => [@simulator]],
	['tools/sim/model' => [@simulator, qw(base/random.h tools/sim/lines tools/sim/units)]],
	['tools/sim/flex' => [qw(tools/sim/lines tools/sim/model)]],
	['tools/sim/machines' => [qw(tools/sim/model tools/sim/flex)]],
	['tools/sim' => [@valgrind, qw(base regions/series.h tools/sim/model tools/sim/machines tools/sim/units)]],
	['tools/sim/pin' => [@valgrind, qw(base tools/sim)]],
	['tools/sim/strings' => [@valgrind, qw(tools/sim tools/sim/model)]],
	['tools/sim/native' => [@valgrind, qw(base tools/sim tools/sim/model tools/sim/pin tools/sim/strings)]],
	['tools/sim/system' => [@valgrind, qw(base tools/sim tools/sim/model tools/sim/native tools/sim/pin)]],
	['tools/sim/native/table' => [qw(base tools/sim tools/sim/native)]],
	['tools/sim/sample' => [@valgrind, qw(base tools/sim tools/sim/model tools/sim/machines)]],
	['tools/sim/scripts' => [@valgrind, qw(tools/sim)]],
	['tools/sim/profile' => [@valgrind, qw(base base/files/build_id.h base/files/debug_path.h tools/sim tools/sim/model tools/sim/sample
		tools/sim/scripts)]],
	['tools/sim/paths' => [@valgrind, qw(base tools/sim tools/sim/model tools/sim/machines tools/sim/profile)]],
	['tools/sim/watch' => [@valgrind, qw(base base/text tools/sim tools/sim/paths tools/sim/profile)]],
	['tools/sim/instrument' => [@valgrind, qw(base tools/sim tools/sim/model tools/sim/machines tools/sim/native tools/sim/paths
		tools/sim/pin tools/sim/profile tools/sim/sample tools/sim/strings tools/sim/system tools/sim/watch)]],
	['tools/shared' => [@base, qw(base/counters base/machine base/encoder output/endings.h output/html.h output/meanings.h output/metrics output/report output/sink.h)]],
	['tools/list' => [@base, qw(base/encoder output/metrics tools/shared)]],
	['tools/diff' => [@base, qw(output output/metrics tools/shared)]],
	['tools/gate' => [@base, qw(output/endings.h output/html.h tools/diff tools/shared)]],
	['tools/calibrate' => [@base, qw(base/counters base/machine tools/shared)]],
	['tools/compare' => [@base, qw(base/counters base/machine output output/metrics output/report), @simulator]],
	['tools/profile/model' => [@base, qw(output/json.h output/metrics output/report/ended.h output/report/report.h regions tools/shared/demangle.h tools/shared/symbol_at.h tools/shared/units.h
		tools/sim/profile_file.h)]],
	['tools/profile/samples' => [@base, qw(regions/samples.h tools/profile/model)]],
	['tools/profile/calls' => [@base, qw(output/json.h tools/profile/model)]],
	['tools/profile/advice' => [@base, qw(output/json.h output/json_lines.h tools/profile/model)]],
	['tools/profile' => [@base, qw(output tools/profile/model tools/profile/calls tools/profile/advice tools/shared/json_file.h)]],
	['tools/runs' => [@base, qw(base/counters base/machine output/csv.h regions tools/shared tools/diff tools/profile/model), @simulator]],
	['tools/reporter' => [@base, qw(output output/report regions tools/shared/demangle.h tools/shared/source_at.h)]],
	['tools' => [@base, qw(base/counters base/machine base/encoder base/engine/engine.h output output/report regions
		tools/calibrate/command.h tools/compare tools/diff tools/gate tools/list tools/profile tools/profile/advice tools/profile/calls tools/profile/model
		tools/profile/samples tools/runs tools/shared)]],
);
my %may = map { @$_ } @rooms;

# The files that start, ask and end the other rooms, and what they include for that.
my %starts = map { $_ => 1 } map { "preload/$_" } qw(calibrate.c choose.c follow.c hooks_process.c parts.c process.c
	reexec.c report.c simulated.c start.c);
my @parts = qw(preload/cases preload/markers preload/parallel preload/program preload/sampling preload/threads);
# The simulated PMU starts and asks its rooms in these.
my %sim_starts = map { $_ => 1 } map { "tools/sim/$_.c" } qw(main options requests simulated threads);
my @sim_parts = map { "tools/sim/$_" } qw(flex native paths pin profile sample system watch);

my @files;
find({no_chdir => 1, wanted => sub {
	push(@files, $_ =~ s{^\Q@{[source()]}\E/}{}r) if /\.[ch]$/;
}}, map { source() . "/$_" } qw(base preload regions output tools));
my %there = map { $_ => 1 } @files;

# The headers that a file of ours includes, by its path from the top.
sub included {
	my ($file) = @_;
	return grep { $there{$_} } map { $file =~ m{^tools/sim/} && !m{^(?:base|regions|tools)/} ? "tools/sim/$_" : $_ }
		read_file(source() . "/$file") =~ /^\s*#\s*include\s+"([^"]+)"/mg;
}

my (%seen, %floor);
@floor{map { $_->[0] } @rooms} = 0 .. $#rooms;
for my $file (sort @files) {
	my $room = dirname($file);
	my %allowed = map { $_ => 1 } @{$may{$room} || []}, $starts{$file} ? @parts : (), $sim_starts{$file} ? @sim_parts : ();
	is_deeply([grep { my $of = dirname($_); $of ne $room && !$allowed{$of} && !$allowed{$_} } included($file)], [],
		"$file includes only what comes before it");
	$seen{$room}++;
}
is_deeply([sort keys %seen], [sort keys %may], 'every room was looked at');
for my $room (@rooms) {
	is_deeply([grep { exists $floor{$_} && $floor{$_} >= $floor{$room->[0]} } @{$room->[1]}], [],
		"$room->[0] stands above the rooms that it includes");
}

# A file that is named is there.
my @readers;
find({no_chdir => 1, wanted => sub {
	push(@readers, $_ =~ s{^\Q@{[source()]}\E/}{}r) if /\.(?:[ch]|t|pm|mk|md|sh)$/;
}}, map { source() . "/$_" } qw(base preload regions output tools tests doc));
my @gone;
for my $file ('Makefile', 'CONTRIBUTING.md', sort @readers) {
	my %named = map { $_ => 1 } read_file(source() . "/$file") =~ /\b((?:base|preload|regions|output|tools)\/[\w\/]+\.[ch])\b/g;
	push(@gone, map { "$file: $_" } grep { !-e source() . "/$_" } sort keys %named);
}
is_deeply(\@gone, [], 'each file that is named is there');
done_testing();
