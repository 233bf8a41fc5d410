#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Programs around programs, on the simulated PMU: what runs inside says what it says alone,
# in a terminal, with a limit of time, in a session or with a root of its own.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use File::Path qw(make_path);
use Peek;
use Test::More;

# A root with a program and its libraries.
my $root = scratch('root');
for my $file (which('env'), `ldd @{[which('env')]}` =~ m{(/\S+)}g) {
	make_path($root . ($file =~ s{/[^/]*$}{}r));
	copy($file, "$root$file") or die "$file: $!";
	chmod 0755, "$root$file";
}
my $inside = which('env');

my %around = (
	timeout => ['timeout', '20', 'sh', '-c', 'echo inside; exit 3'],
	'timeout that ends it' => ['timeout', '-s', 'TERM', '0.5', 'sleep', '60'],
	setsid => ['setsid', '-w', 'sh', '-c', 'echo inside; exit 3'],
	script => ['script', '-qec', 'echo inside; exit 3', '/dev/null'],
	'a user of its own' => ['unshare', '-r', 'sh', '-c', 'echo inside; id -u'],
	'a root of its own' => ['unshare', '-r', '-R', $root, $inside, '-i', 'IN=side'],
);
for my $name (sort keys %around) {
	my @command = @{$around{$name}};
	SKIP: {
		skip "no $command[0] here", 2 unless which($command[0]);
		my $alone = run(command => \@command);
		skip "unshare is not allowed here", 2 if $command[0] eq 'unshare' && $alone->{status};
		my $run = peek(engine => 'sim', events => 'instructions', command => \@command);
		is($run->{out}, $alone->{out}, "$name: the output is that of the program alone");
		is($run->{status}, $alone->{status}, '... and the status');
	}
}

done_testing;
