#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The calls that open files.  Files that somebody else may have made go through
# base/files/trusted.h, those that users name to be written through base/files/new_file.h; each
# other call stands here, with the reason why it needs neither.
use strict;
use warnings;
use File::Find;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

my %opens = (
	'base/files/maps.c' => [1, 'a file of /proc'],
	'base/files/new_file.c' => [3, 'itself'],
	'base/files/trusted.c' => [1, 'itself'],
	'base/text.c' => [1, 'files of /proc and /sys'],
	'output/report/report.c' => [1, 'a directory that was named; its entries are trusted or not'],
	'preload/data.c' => [1, 'installed beside the library, as it is'],
	'preload/decide.c' => [1, 'made with O_EXCL'],
	'preload/hooks_process.c' => [1, '/dev/null'],
	'preload/program/hooks_open.c' => [3, 'the definitions, and a message'],
	'tools/reporter/job.c' => [1, 'cp_trusted_check_found() follows: it is written to'],
	'preload/libc/libc.c' => [2, 'the definitions'],
	'preload/patch/memory.c' => [1, 'a file of /proc'],
	'preload/program/reporter.c' => [1, '/dev/null'],
	'preload/writer.c' => [3, '/dev/null, or the root directory in its place, which is not read; a link of /proc'],
	'preload/reexec.c' => [4, 'a new log, without links, in our directory; /dev/null; the program itself, by its link; only for its name'],
	'preload/threads/threads_adopt.c' => [1, 'a directory of /proc'],
	'base/engine/sysfs.c' => [1, 'a directory of /sys'],
	'regions/fold/fold_records.c' => [4, 'the run directory; a lock that nothing is read from; made with O_EXCL; a byte that is appended'],
	'preload/parallel/job.c' => [1, 'made with O_EXCL'],
	'base/files/directory.c' => [1, 'a run directory; its entries are trusted or not'],
	'regions/process_state.c' => [1, 'a file of /proc'],
	'regions/jobdir.c' => [1, 'a lock that nothing is read from or written to'],
	'regions/record_write.c' => [2, 'made with O_EXCL; its own again, without links'],
	'regions/rundir.c' => [7, 'directories of runs without links, where they are'],
	'tools/calibrate/memory_left.c' => [1, 'files of /proc and /sys'],
	'tools/runs/again.c' => [1, '/dev/null'],
	'tools/runs/launch.c' => [1, 'cp_trusted_check_found() follows: it is written to'],
	'tools/profile/model/read.c' => [1, 'a directory that was named; its entries are trusted or not'],
	'tools/sources.c' => [1, '/dev/null'],
	'tools/sim/profile/elf_file.c' => [1, 'what is mapped into the program'],
	'tools/sim/pin/turn.c' => [2, 'directories of /proc'],
	'tools/sim/system/hidden_exe.c' => [1, 'a directory of /proc'],
	'tools/sim/system/huge_kernel.c' => [3, 'files of /proc and /sys'],
	'tools/sim/system/hidden_proc.c' => [1, 'a file of /proc'],
	'tools/sim/system/title.c' => [2, 'files of /proc'],
	'tools/sim/profile/profile_file.c' => [1, 'made with O_EXCL'],
	'tools/sim/profile/profile_misses.c' => [1, 'an option of our tests'],
	'tools/sim/profile/profile_module.c' => [1, 'what is mapped into the program'],
);

my %seen;
find({no_chdir => 1, wanted => sub {
	return unless /\.[ch]$/;
	my $file = $_ =~ s{^\Q@{[source()]}\E/}{}r;
	my $text = read_file($_) =~ s{/\*.*?\*/}{}gsr =~ s{"(?:[^"\\\n]|\\.)*"}{""}gr;
	my $calls = () = $text =~ /(?<![\w.>])(?:open|openat|open64|creat|fopen|freopen|json_load_file|json_dump_file)\s*\(|VG_\(open\)|\bSYS_openat\s*,\s*(?:\(\w+\))?(?!SYS_)[a-zA-Z]/g;
	$seen{$file} = $calls if $calls > 0;
}}, map { source() . "/$_" } qw(base preload regions output tools));

for my $file (sort keys %{{%opens, %seen}}) {
	is($seen{$file} || 0, $opens{$file}[0] || 0, "$file opens as many files as are known: " .
		($opens{$file}[1] || 'use base/files/trusted.h or base/files/new_file.h'));
}
done_testing();
