#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# /proc/PID/exe of another process that is simulated, and of the own one, is the program's, by
# whatever call and path: also of one that was removed, of a script, and of a child that has
# executed nothing.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use File::Copy qw(copy);
use Test::More;

my $perl = which('perl');
my $script = write_file(scratch('script'), "#!/bin/sh\nread line\n");
chmod(0755, $script);
my $look = write_file(scratch('look.pl'), <<'END');
use Fcntl;
my ($kept, $removed, $script) = @ARGV;
sub open_to
{
	my $pid = open(my $to, '|-', @_) // die "$_[0]: $!\n";
	return ($pid, $to);
}
sub show
{
	my ($what, $proc) = @_;
	my @of = stat("$proc/exe");
	print "$what: ", readlink("$proc/exe") // $!, ' ', readlink("$proc/task/" . ($proc =~ /(\d+)/)[0] . '/exe') // $!, "\n";
	print "$what: device $of[0], size $of[7], links $of[3], ", (-x "$proc/exe" ? 'executable' : 'not executable'), "\n";
	print "$what: a link\n" if -l "$proc/exe";
	chdir($proc) or die "$proc: $!\n";
	print "$what: ", readlink('exe') // $!, ' ', (stat('exe'))[7], ' ', -l 'exe' ? 'a link' : 'none', "\n";
	open(my $file, '<:raw', 'exe') or print "$what: $!\n";
	read($file, my $begin, 4096);
	print "$what: ", unpack('%32C*', $begin), "\n";
	chdir('/');
}
my %of;
for my $program ([$kept, '-e', '<STDIN>'], [$removed, '-e', '<STDIN>'], [$script]) {
	my ($pid, $to) = open_to(@$program);
	$of{$program->[0]} = [$pid, $to];
}
my $child = open(my $to, '|-') // die $!;
if (!$child) {
	<STDIN>;
	exit(0);
}
# Until each is the program.
for (values %of) {
	my $name = "/proc/$_->[0]/comm";
	for (1 .. 3000) {
		open(my $comm, '<', $name);
		last if <$comm> =~ /^(?:kept|removed|script)$/;
		select(undef, undef, undef, 0.01);
	}
}
unlink($removed);
show('program', "/proc/$of{$kept}[0]");
show('removed', "/proc/$of{$removed}[0]");
show('script', "/proc/$of{$script}[0]");
show('child', "/proc/$child");
show('self', "/proc/$$");
print readlink("/proc/$_/exe") // "$!", "\n" for qw(self thread-self 99999999);
print +(stat("/proc/$_/exe"))[7] // "$!", "\n" for qw(self thread-self 99999999);
kill('KILL', $child, map { $_->[0] } values %of);
END

sub look
{
	my ($run, %with) = @_;
	my @programs = map { scratch($_) } qw(kept removed);
	for (@programs) {
		copy($perl, $_) or die "$_: $!\n";
		chmod(0755, $_);
	}
	return $run->(%with, command => [$perl, $look, @programs, $script]);
}

my $alone = look(\&plain);
is($alone->{err}, '', 'alone');
like($alone->{out}, qr/removed: \S+removed \(deleted\)/, 'alone: the removed one');
for my $engine (grep { !why_not($_) } qw(perf sim)) {
	my $run = look(\&peek, engine => $engine);
	is($run->{out}, $alone->{out}, "$engine: the same programs");
	is($run->{err}, '', "$engine: no errors");
}
done_testing();
