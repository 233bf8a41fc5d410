# SPDX-License-Identifier: MIT
# For tests that make programs up: names that no other part of the program has,
# and random numbers.
package Words;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(name between);

my @words = qw(alpha bravo cargo delta ember flint grove harbor iris jolt karma lemon mango nickel
	olive pearl quartz raven sable tundra);
my %taken;

sub name
{
	my $name;
	do { $name = $words[rand @words] . '_' . int(rand(1000)) } while $taken{$name}++;
	return $name;
}

# A whole number, both ends included.
sub between
{
	my ($least, $most) = @_;
	return $least + int(rand($most - $least + 1));
}

1;
