#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# tools/deps.sh: a package that has another name in each release, or is in some of them only, by
# what a stand-in for apt knows.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'not a Debian system') unless which('dpkg-query');

my $bin = scratch('bin');
mkdir($bin);
# A release: whether there are lists of packages, and which it has.
sub release
{
	my ($lists, @has) = @_;
	my $known = join('|', @has, 'none-at-all');
	write_file("$bin/apt-cache", <<"END");
#!/bin/sh
[ "\$1" = policy ] && shift
if [ \$# -eq 0 ]; then
	echo 'Package files:'
	echo ' 100 /var/lib/dpkg/status'
	$lists && echo ' 500 http://deb.example/debian suite/main amd64 Packages'
	exit 0
fi
for name; do
	case \$name in
	$known) printf '%s:\\n  Installed: (none)\\n  Candidate: 1.0\\n' "\$name" ;;
	virtual) printf '%s:\\n  Installed: (none)\\n  Candidate: (none)\\n' "\$name" ;;
	esac
done
END
	chmod(0755, "$bin/apt-cache");
}

sub deps
{
	my ($mode, @groups) = @_;
	return run(command => ['sh', source() . '/tools/deps.sh', $mode, @groups], env => {PATH => "$bin:$ENV{PATH}"});
}

# The names that all groups have, as they stand in the file.
my @groups = qw(build check ci vm presets suites bench real deb);
my ($lists) = read_file(source() . '/tools/deps.sh') =~ /^set -eu\n(.*?)^usage/ms;
my %varying = map { $_ => 1 } $lists =~ s/^#.*//mgr =~ /(\w[\w.+-]*(?:\|[\w.+-]+)+)/g;
ok(scalar(keys %varying) > 5, 'some packages have several names') or diag(join(' ', keys %varying));

for my $word (sort keys %varying) {
	my @names = split(/\|/, $word);
	my $optional = $names[-1] eq '-' && pop(@names);
	for my $name (@names) {
		release('true', $name, 'virtual');
		my %listed = map { $_ => 1 } split(' ', deps('--list', @groups)->{out});
		is(join(' ', grep { $listed{$_} } @names), $name, "$word: where there is only $name");
	}
	release('true', @names);
	my %listed = map { $_ => 1 } split(' ', deps('--list', @groups)->{out});
	is(join(' ', grep { $listed{$_} } @names), $names[0], "$word: the first, where all are");
	release('true');
	%listed = map { $_ => 1 } split(' ', deps('--list', @groups)->{out});
	is(join(' ', grep { $listed{$_} } @names), $optional ? '' : $names[0],
		"$word: where there is none, " . ($optional ? 'nothing' : 'the first, of which apt will say so'));
	release('false');
	%listed = map { $_ => 1 } split(' ', deps('--list', @groups)->{out});
	is(join(' ', grep { $listed{$_} } @names), $names[0], "$word: the first, where nothing is known");
}
done_testing();
