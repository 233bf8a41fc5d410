#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The preloaded library and the program, both instrumented by the sanitizer that
# SANITIZE names (asan, tsan), on the perf engine; with SANITIZE=memcheck neither
# is, and Valgrind runs them.  `make asan tsan memcheck` build and run this.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../e2e";
use Peek;
use Test::More;

need_perf();
my $kind = $ENV{SANITIZE} || plan(skip_all => 'run by make asan, tsan, memcheck');
my $log = scratch('sanitizer');

# gcc's runtime for addresses is to be the first library.
my $first = '';
chomp($first = `gcc -print-file-name=libasan.so`) if $kind eq 'asan';
my $common = "log_path=$log:exitcode=66";
my %env = (ASAN_OPTIONS => "$common:detect_leaks=0", UBSAN_OPTIONS => "$common:print_stacktrace=1",
	TSAN_OPTIONS => "$common:die_after_fork=0");
my @valgrind = ('valgrind', '-q', '--error-exitcode=66', "--log-file=$log.%p", '--trace-children=yes',
	'--vgdb=no');

sub complaints
{
	my $text = '';
	for my $file (glob("$log.*")) {
		$text .= read_file($file);
		unlink($file);
	}
	return $text;
}

sub ok_clean
{
	my ($status, $calls, @command) = @_;
	my $what = "$kind: " . join(' ', @command);
	my ($name, @arguments) = @command;
	my @under = $kind eq 'memcheck' ? @valgrind : ('env');
	my $run = peek(engine => 'perf', env => \%env, preload => join(':', $first ? $first : (), lib()),
		under => \@under, command => [program($name), @arguments]);
	is(complaints(), '', "$what: no complaint");
	is(status_text($run->{status}), $status, "$what: status") or diag($run->{err});
	return unless ok($run->{report}, "$what: a report");
	for my $path (sort keys %$calls) {
		my $region = region($run->{report}, split(m{/}, $path));
		is($region ? $region->{calls} : 0, $calls->{$path}, "$what: calls of $path");
	}
}

ok_clean('exit 0', {walk => 8}, 'region_threads');
ok_clean('exit 0', {outer => 1, 'outer/inner' => 3}, 'region_nested');
ok_clean('exit 0', {}, 'threads');
ok_clean('exit 0', {}, 'many_threads', 50);
ok_clean('exit 0', {}, 'region_misuse');
ok_clean('exit 0', {}, 'coexist', 'timer') if $kind ne 'memcheck';
# The thread sanitizer does not know threads of fork children, and the allocator
# of the address sanitizer leaves its locks held in them.
ok_clean('exit 0', {}, 'coexist', 'fork_often') if $kind eq 'memcheck';
ok_clean('exit 3', {work => 46}, 'ends');
ok_clean('exit 5', {work => 46}, 'ends', '_exit');
ok_clean('exit 12', {work => 46}, 'ends', 'exec') if $kind ne 'tsan';
ok_clean('signal 6', {work => 46}, 'ends', 'abort') if $kind ne 'asan';
ok_clean('signal 15', {work => 46}, 'ends', 15);
done_testing();
