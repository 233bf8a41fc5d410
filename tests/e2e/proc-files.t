#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# /proc/PID/environ and maps, of the program and of another one that is counted: beside what
# there is alone, no more than cachepeek-differences(7) says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $look = write_file(scratch('look.pl'), <<'END');
my $pid = open(my $to, '|-', $^X, '-e', '<STDIN>', 'other') // die $!;
sub contents
{
	open(my $file, '<', $_[0]) or return '';
	local $/;
	return <$file> // '';
}
# Until it is the program, which has read its arguments.
for (1 .. 3000) {
	last if contents("/proc/$pid/comm") =~ /^perl/ && contents("/proc/$pid/maps") =~ /libperl|perl/ && contents("/proc/$pid/syscall") =~ /^0 0x0 /;
	select(undef, undef, undef, 0.01);
}
for my $process ('self', $pid) {
	my $name = $process eq 'self' ? 'self' : 'other';
	print "$name variable $_\n" for sort split(/\0/, contents("/proc/$process/environ"));
	my %files = map { m{ (/.*)$} ? ($1 => 1) : () } split(/\n/, contents("/proc/$process/maps"));
	print "$name file $_\n" for sort keys %files;
}
kill('KILL', $pid);
END

my @command = (which('perl'), $look);
my %alone = map { $_ => 1 } split(/\n/, plain(command => \@command)->{out});
cmp_ok(scalar(grep { /^(?:self|other) variable PATH=/ } keys %alone), '==', 2, 'alone: variables of both');
cmp_ok(scalar(grep { m{^(?:self|other) file /\S*libc\S*\.so} } keys %alone), '>=', 2, 'alone: files of both');
for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my %with = map { $_ => 1 } split(/\n/, peek(engine => $engine, command => \@command)->{out});
	my @more = grep { !$alone{$_} } sort keys %with;
	my $ours = qr/variable (?:LD_PRELOAD|CACHEPEEK_\w+)=|file \S*cachepeek/;
	$ours = qr/$ours|variable VALGRIND_(?:LIB|LAUNCHER)=/ if $engine eq 'sim';

	is_deeply([grep { !$with{$_} } sort keys %alone], [], "$engine: all that there is alone");
	is_deeply([grep { !/^(?:self|other) (?:$ours)/ } @more], [], "$engine: and no more than is said");
	for my $whose (qw(self other)) {
		cmp_ok(scalar(grep { /^$whose (?:$ours)/ } @more), '>=', 2, "$engine: $whose: that is there");
	}
}
done_testing();
