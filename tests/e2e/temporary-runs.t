#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Runs of those who have no home: what stays among temporary files is bounded by number and
# age, said once, and nobody else's is touched.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $place = scratch('temporary');
my %env = (HOME => undef, XDG_CACHE_HOME => undef, CACHEPEEK_DIR => undef, TMPDIR => $place);

sub count_once
{
	return run(command => [cli(), '-E', 'sim', '-o', scratch('r.txt'), 'true'], env => {%env, @_});
}

sub runs { my @all = glob("$place/cachepeek-0*"); return @all }

# Each a minute older than the one before it.
sub age
{
	my ($seconds, @runs) = @_;
	for (@runs) {
		utime(time - $seconds, time - $seconds, $_) or die;
		$seconds += 60;
	}
}

mkdir($place, 0700) or die;
my $run = count_once();
is($run->{status}, 0, 'a run');
is(scalar(runs()), 1, '... leaves its records');
my ($first) = runs();
like($run->{err}, qr/^cachepeek: without a home directory records of runs stay in \Q$first\E, and 20 such directories at most [^\n]*$/m, '... and says where');

# As many as there may be, and as others have; each has a record that is a file of ours.
my @made = map { sprintf("$place/cachepeek-%06d-%05d-%016x", 20000, $_, $_) } 1 .. 40;
for (@made) {
	mkdir($_, 0700) or die;
	open(my $file, '>', "$_/999999999-0.rec") or die;
}
my @others = ("$place/cachepeek-doctor-aaaaaa", "$place/cachepeek-020000-00001-00000000000000zz", "$place/cachepeek-020000-00001-ffffffffffffffff");
mkdir($_, 0755) or die for @others;
my $busy = sprintf("$place/cachepeek-020000-00000-%016x", $$);
my $begun = "$place/cachepeek-020000-00000-$$-0000000000000001";
my $ended = "$place/cachepeek-020000-00000-4999999-0000000000000001";
mkdir($_, 0700) or die for $busy, $begun, $ended;
open(my $file, '>', "$busy/$$-0.rec") or die;
close($file);
age(600, @made, @others, $busy, $begun, $ended);
$run = count_once();
unlike($run->{err}, qr/home directory/, 'another one says no more');
my %left = map { $_ => 1 } runs();
delete @left{@others};
is(scalar(keys %left), 22, '20 of them stay, and two that are in use');
ok($left{$busy}, '... one with a record');
ok($left{$begun} && !$left{$ended}, '... and one that somebody has just made');
ok($left{$made[0]} && !$left{$made[39]}, '... the newest');
ok(!(grep { !-d } @others), 'what is not named so, or not for its owner alone, is not touched');

# The library cleans up, too, and ages.
age(11 * 86400, @made[0 .. 9]);
$run = run(command => ['true'], env => {%env, LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_OUTPUT => scratch('r2.txt')});
is($run->{err}, '', 'the library has nothing to say');
ok(!(grep { -d } @made[0 .. 9]), 'what is older than ten days is removed');
ok(-d $made[10], '... and no other');
$run = count_once(CACHEPEEK_DIR => scratch('mine'));
unlike($run->{err}, qr/home directory/, 'nothing to say of a directory that was chosen');
done_testing();
