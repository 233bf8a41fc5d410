#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The files that the library and the commands write: one rule for all of them.
use strict;
use warnings;
use Fcntl qw(O_RDONLY O_NONBLOCK);
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX ();
use Test::More;

need_perf();
umask(0022);
my $no_other = no_other_user();

sub mode { sprintf('%04o', (lstat($_[0]))[2] & 07777) }

# ---- who writes ----

my %base = (CACHEPEEK_ENGINE => 'perf', CACHEPEEK_EVENTS => 'perf::PAGE-FAULTS');
my @pages = (program('region_pages'), 10, 0);
my ($profile, $shared, $one) = map { scratch($_) } qw(profile shared one.json);
write_file(scratch('walk.c'), <<'C');
#include <stdlib.h>
int main(void)
{
	char *at = calloc(3000, 64);
	long sum = 0;
	for (int i = 0; i < 3000; i++)
		sum += at[64 * i];
	return sum;
}
C
system('cc', '-g', '-O1', '-o', scratch('walk'), scratch('walk.c')) == 0 or die;
run(command => [cli(), 'dcache', '-d', $profile, '-o', "$profile.json", scratch('walk')]);
run(command => [cli(), 'sharing', '-d', $shared, '-o', "$shared.txt", scratch('walk')]);
run(command => [cli(), '-d', scratch('records'), '-o', $one, @pages], env => \%base);

# Each writer, and its command: OUTPUT stands for the file.
my @writers = (
	['library', 'json', {%base, LD_PRELOAD => lib(), CACHEPEEK_OUTPUT => 'OUTPUT'}, @pages],
	['library', 'html', {%base, LD_PRELOAD => lib(), CACHEPEEK_OUTPUT => 'OUTPUT'}, @pages],
	['library', 'prom', {%base, LD_PRELOAD => lib(), CACHEPEEK_OUTPUT => 'OUTPUT'}, @pages],
	['run', 'txt', \%base, cli(), '-o', 'OUTPUT', '/bin/echo', 'said'],
	['repeat', 'json', \%base, cli(), '--repeat', 2, '-o', 'OUTPUT', @pages],
	['report', 'csv', {}, cli(), 'report', '-o', 'OUTPUT', scratch('records')],
	['merge', 'json', {}, cli(), 'merge', '-o', 'OUTPUT', scratch('records')],
	['diff', 'txt', {}, cli(), 'diff', '-o', 'OUTPUT', $one, $one],
	['diff', 'json', {}, cli(), 'diff', '-o', 'OUTPUT', $one, $one],
	['dcache', 'html', {}, cli(), 'dcache', '-d', $profile, '-o', 'OUTPUT'],
	['sharing', 'json', {}, cli(), 'sharing', '-d', $shared, '-o', 'OUTPUT'],
	['annotate', 'txt', {}, cli(), 'annotate', '-i', "$profile.json", '-o', 'OUTPUT', 'walk.c'],
	['annotate', 'html', {}, cli(), 'annotate', '-i', "$profile.json", '-o', 'OUTPUT', 'walk.c'],
	['compare', 'json', {}, cli(), 'compare', '-m', 'neoverse-n2', '-o', 'OUTPUT', '/bin/true'],
);

# Has one of them write there, as the user in $as if it is set.
my $as;
sub writes
{
	my ($writer, $output) = @_;
	my (undef, undef, $env, @command) = @$writer;
	my %env = map { $_ => $env->{$_} =~ s/^OUTPUT$/$output/r } keys %$env;
	@command = map { s/^OUTPUT$/$output/r } @command;
	if ($as) {
		@command = ('timeout', 20, as_user($as), 'env',
			(map { "$_=$env{$_}" } sort keys %env), @command);
		%env = ();
	}
	return run(command => \@command, env => \%env);
}

# The whole of what it writes there.
my %whole = (txt => qr/\A(?:cachepeek|before) .*\n\z/s, json => qr/\A\{.*\}\n\z/s, csv => qr/\A[a-z_,]+\n.*\n\z/s,
	html => qr/\A<!doctype html>.*<\/html>\n\z/si, prom => qr/\A# TYPE .*# EOF\n\z/s);

sub ok_whole
{
	my ($file, $what) = @_;
	like(read_file($file) // '', $whole{$file =~ s/.*\.//r}, $what);
}

# Lines of ours but the lines of reports.
sub complaints { join('', grep { /^cachepeek: / } split(/^/, $_[0]{err})) }

chmod(0644, $one);

my $n = 0;
sub fresh_directory
{
	my ($mode) = @_;
	my $directory = scratch('here' . ++$n);
	mkdir($directory) or die;
	chmod($mode, $directory);
	return $directory;
}

# ---- what is there ----

for my $writer (@writers) {
	my ($who, $ending) = @$writer;
	my $what = "$who, $ending";
	my $here = fresh_directory(0755);
	my $file = "$here/out.$ending";

	is(complaints(writes($writer, $file)), '', "$what: nothing to complain about");
	ok_whole($file, '... a whole file');
	is(mode($file), '0644', '... that others can read, by the umask');
	is(join(' ', map { s/.*\///r } glob("$here/* $here/.c*")), "out.$ending", '... and nothing beside it');

	write_file($file, "old\n");
	chmod(0640, $file);
	open(my $old, '<', $file) or die;
	writes($writer, $file);
	is(join('', <$old>), "old\n", "$what: whoever has the old file open keeps it");
	ok_whole($file, '... the new one is in its place');
	is(mode($file), '0640', '... under its mode');

	symlink("out.$ending", "$here/link.$ending") or die;
	write_file($file, "old\n");
	writes($writer, "$here/link.$ending");
	is(readlink("$here/link.$ending"), "out.$ending", "$what: a link of one's own stays");
	ok_whole($file, '... and is followed');

	mkdir("$here/directory.$ending") or die;
	my $run = writes($writer, "$here/directory.$ending");
	like(complaints($run), qr{^cachepeek: output \S+/directory\.$ending: is a directory: choose a file that can be written$}m,
		"$what: a directory is named, with the cure");
	is(scalar(() = glob("$here/.cachepeek*")), 0, '... and nothing is left');
}

# ---- standard streams and devices ----

for my $writer (@writers) {
	my ($who, $ending) = @$writer;
	next if $ending ne 'txt';
	for my $stream ('/dev/stdout', '/dev/fd/1') {
		my $run = writes($writer, $stream);
		is(complaints($run), '', "$who to $stream: nothing to complain about");
		like($run->{out}, qr/^(?:cachepeek|before) /m, '... the report is there');
		like($run->{out}, qr/\Asaid$/m, '... behind what the program wrote') if $who eq 'run';
	}
	is(complaints(writes($writer, '/dev/null')), '', "$who to /dev/null");
	ok(-c '/dev/null', '... which is still a device');
	my $fifo = scratch("fifo-$who.txt");
	POSIX::mkfifo($fifo, 0600) or die;
	# In the pipe there is room for 64 KiB.
	sysopen(my $reader, $fifo, O_RDONLY | O_NONBLOCK) or die;
	is(complaints(writes($writer, $fifo)), '', "$who to a FIFO");
	sysread($reader, my $text, 65536);
	ok($text && $text =~ /^(?:cachepeek|before) /m, '... who reads from it gets the report');
	ok(-p $fifo, '... and it is still one');
}

# ---- another user was there first ----

SKIP: {
	skip($no_other, 1) if $no_other;
	for my $victim (0, 65534) {
		my $attacker = 65533;
		for my $writer (@writers) {
			my ($who, $ending) = @$writer;
			# The victim of a run would need besides: a home, records that it may read.
			next if $victim && $who !~ /^(?:library|diff)$/;
			$as = $victim;
			my $what = "$who, $ending, as user $victim";
			my $sticky = fresh_directory(01777);
			my $file = "$sticky/out.$ending";
			write_file($file, "bait\n");
			chown($attacker, $attacker, $file);
			chmod(0666, $file);
			open(my $bait, '<', $file) or die;
			my $run = writes($writer, $file);
			is(join('', <$bait>), "bait\n", "$what: another's file learns nothing");
			if ($victim) {
				like(complaints($run), qr/^cachepeek: output \S+: operation not permitted: /m, '... that is said');
			} else {
				is((stat($file))[4], 0, '... ours is in its place');
			}

			my $target = write_file(scratch("precious$n"), "precious\n");
			chown($victim, $victim, $target);
			symlink($target, "$sticky/link.$ending") or die;
			system('chown', '-h', $attacker, "$sticky/link.$ending");
			$run = writes($writer, "$sticky/link.$ending");
			is(read_file($target), "precious\n", "$what: a link of another user is not followed");
			like(complaints($run), qr{^cachepeek: output \S+: it is a link of another user: choose a file that can be written$}m,
				'... that is said');

			POSIX::mkfifo("$sticky/fifo.$ending", 0666) or die;
			chmod(0666, "$sticky/fifo.$ending");
			chown($attacker, $attacker, "$sticky/fifo.$ending");
			$run = writes($writer, "$sticky/fifo.$ending");
			like(complaints($run), qr{^cachepeek: output \S+: it belongs to another user: choose a file that can be written$}m,
				"$what: nor is a FIFO of another user written to");
			ok(defined $run->{status}, '... which holds nobody');
			$as = undef;
		}
	}
}
done_testing();
