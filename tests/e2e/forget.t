#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# No run leaves files behind: none of those below TMPDIR, and none after report --forget.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $tmp = scratch('tmp');
mkdir($tmp) or die "$tmp: $!";
my @engines = (can_count('software') ? 'perf' : (), 'sim');

for my $engine (@engines) {
	my %none = (XDG_CACHE_HOME => undef, HOME => undef, TMPDIR => $tmp);
	my $run = peek(engine => $engine, events => $engine eq 'sim' ? 'instructions' : undef,
		command => [program('region_nested')], env => {%none});
	ok($run->{report}, "$engine: a report without HOME");
	is_deeply([glob("$tmp/*")], [], "$engine: and nothing else is left");
	# One that could not be written stays, to be written later.
	$run = peek(engine => $engine, events => $engine eq 'sim' ? 'instructions' : undef,
		command => [program('region_nested')], output => '/dev/null/x.json', env => {%none});
	my @left = glob("$tmp/*");
	is(scalar(@left), 1, "$engine: records without a report stay");
	my $forget = run(command => [cli(), 'report', '--forget', @left]);
	is($forget->{out}, "1 run removed\n", "$engine: until they are forgotten");
	is_deeply([glob("$tmp/*")], [], "$engine: nothing is left then");
}

peek(engine => $engines[0], events => $engines[0] eq 'sim' ? 'instructions' : undef,
	command => [program('region_nested')]) for 1 .. 3;
my $base = "$ENV{XDG_CACHE_HOME}/cachepeek";
is(scalar(grep { !-l } glob("$base/*")), 3, 'three runs are kept');
my $forget = run(command => [cli(), 'report', '--forget']);
is($forget->{out}, "3 runs removed\n", '--forget: says how many');
is_deeply([glob("$base/*")], [], '--forget: nothing is left, nor a link to it');
is(run(command => [cli(), 'report', '--forget'])->{out}, "0 runs removed\n", 'again: none');
my $wrong = run(command => [cli(), 'report', '--forget', "$tmp/nowhere"]);
is(status_text($wrong->{status}), 'exit 1', 'no such directory: fails');
like($wrong->{err}, qr/^cachepeek: .*nowhere: No such file.*name the directory/, 'and says why');
done_testing();
