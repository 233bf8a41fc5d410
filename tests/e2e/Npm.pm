# SPDX-License-Identifier: MIT
# Packages of npm that tests read or look at our files with: each comes once, into the build
# directory.
package Npm;
use strict;
use warnings;
use Exporter qw(import);
use Peek;

our @EXPORT = qw(npm_package);

# npm_package(NAME, VERSION) -> its directory; or undef, and why not.
sub npm_package
{
	my ($name, $version) = @_;
	my $place = build() . "/npm/$name-$version";
	my $directory = "$place/node_modules/$name";
	return $directory if -e "$place/installed";
	my $npm = which('npm') or return (undef, 'no npm here');
	my $run = run(command => [$npm, 'install', '--prefix', $place, '--no-audit', '--no-fund',
		'--fetch-retries=0', '--fetch-timeout=20000', "$name\@$version"]);
	return (undef, "$name cannot be installed: " . (split(/\n/, $run->{err}))[0])
		if $run->{status} || !-d $directory;
	write_file("$place/installed", '');
	return $directory;
}

1;
