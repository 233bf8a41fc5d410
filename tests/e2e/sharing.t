#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek sharing: lines that threads share, and which for nothing.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my $rounds = 5000;

# The answer of sharing for the program: {out, report}.
sub sharing
{
	my ($how, @options) = @_;
	my $file = scratch("$how.json");
	my $run = run(command => [cli(), 'sharing', '-o', $file, @options, program('sharing'), $how, $rounds]);

	is(status_text($run->{status}), 'exit 0', "$how: runs") or diag($run->{err});
	return {report => decode_json(read_file($file)), file => $file};
}

sub lines { my ($kind, $run) = @_; return grep { $_->{sharing} eq $kind } @{$run->{report}{lines}} }
sub names { return sort map { map { $_->{name} } @{$_->{data}} } @{$_[0]{threads}} }

# ---- neighbours ----

my $false = sharing('false');
my ($line, @more) = lines('false', $false);
is(scalar @more, 0, 'false: one line');
is(scalar @{$line->{threads}}, 2, 'false: two threads');
is($line->{transfers_at_most}, 2 * $rounds, 'false: each is there as often as the other');
is($line->{for_nothing_at_most}, 2 * $rounds, 'false: all of it for nothing');
for my $thread (@{$line->{threads}}) {
	is("$thread->{loads} $thread->{stores}", "$rounds $rounds", 'false: what the thread did');
	cmp_ok($thread->{stores}, '>=', 0.9 * $thread->{thread_stores}, 'false: nearly all that it wrote');
	is($thread->{last_byte} - $thread->{first_byte}, 7, 'false: to a word of its own');
}
is(join(' ', names($line)), 'sharing::first_counter sharing::second_counter', 'false: both names');
is($line->{hitm}, undef, 'false: nobody asked for turns');

is(scalar lines('false', sharing('padded')), 0, 'padded: nothing is shared falsely');

my ($block) = lines('false', sharing('heap'));
is(scalar @{$block->{threads}}, 2, 'heap: two threads');
like((names($block))[0], qr/^Heap: sharing::/, 'heap: who allocated it');

# ---- what has to be shared ----

my $true = sharing('true');
is(scalar lines('false', $true), 0, 'true: nothing for nothing');
($line) = lines('true', $true);
is(join(' ', names($line)), 'sharing::common sharing::common', 'true: its name');
is($line->{for_nothing_at_most}, 0, 'true: all for data');

my $queue = sharing('queue');
is(scalar lines('false', $queue), 0, 'queue: told from false sharing');
my @queue = grep { (names($_))[0] eq 'sharing::queue' } lines('true', $queue);
cmp_ok(scalar @queue, '>=', 3, 'queue: its lines');

# ---- turns ----

# Each thread's references are 2 * $rounds and a few: so many turns, and a transfer
# in each but for the turns before the second thread begins.
for my $quantum (10, 100) {
	my ($line) = lines('false', sharing('false', '--quantum', $quantum));
	my $turns = 2 * 2 * $rounds / $quantum;
	cmp_ok($line->{hitm}, '<=', $turns + 2, "turns of $quantum: no more HITM than turns");
	cmp_ok($line->{hitm}, '>=', 0.8 * $turns - 2, "turns of $quantum: and not many fewer");
	# The first write may find the other's copy unmodified, and the last read is followed by
	# none: which thread begins, and with how much, is not ours to say.
	cmp_ok(abs($line->{invalidations} - $line->{hitm}), '<=', 1,
		"turns of $quantum: each takes the line away");
}
# One reads, the other reads, one writes, the other writes: the first and the last find it
# modified.
($line) = lines('false', sharing('false', '--quantum', 1));
cmp_ok($line->{hitm}, '<=', 2 * $rounds + 2, 'turns of 1: two in four references at most');
cmp_ok($line->{hitm}, '>=', 1.6 * $rounds, 'turns of 1: and not many fewer');
is(sharing('false', '--quantum', 10)->{report}{quantum}, 10, 'turns: the quantum');
is(scalar lines('false', sharing('padded', '--quantum', 1)), 0, 'turns: padded is as before');

# ---- what it looks like ----

my $text = run(command => [cli(), 'sharing', '-v', '-o', '-', '--quantum', '10', program('sharing'), 'false', $rounds])->{out};
like($text, qr/^False sharing: 1 line that/m, 'text: how many');
like($text, qr/^ +sharing::first_counter$/m, 'text: a name');
like($text, qr/taking turns: [\d,]+ HITM, [\d,]+ invalidations/, 'text: turns');
like($text, qr/threads took turns after 10 data references/, 'text: the quantum');
like($text, qr/shared lines with fewer than 100 transfers are left out/, 'text: what is left out');

# One screen: the answer first.
sub answer { return run(command => [cli(), 'sharing', '-o', '-', @_])->{out} }
my $answer = answer(program('sharing'), 'false', $rounds);
like($answer, qr/^false +1 line that threads use at different bytes: at most 10,000 transfers/m, 'screen: how much of it');
like($answer, qr/^Findings\nfalse-sharing: sharing::first_counter, sharing::second_counter$/m, 'screen: what to keep apart');
like($answer, qr/^sharing::first_counter, sharing::second_counter +false +1 +2 +10,000$/m, 'screen: one row for its line');
unlike($answer, qr/HITM *$/m, 'screen: no column for turns that nobody asked for');
like($answer, qr/^\(\d+ lines with fewer than 100 transfers: --least\)$/m, 'screen: what is left out');
like(join("\n", grep { defined } (split(/\n/, $answer))[0 .. 23]), qr/^data +sharing/m, 'screen: all of it in 24 rows, but for the machine');
is((grep { length($_) > 80 } split(/\n/, $answer)), 0, 'screen: of 80 columns');
like(answer('--quantum', '10', program('sharing'), 'false', $rounds), qr/^data +sharing +lines +threads +transfers +HITM$/m, 'screen: turns have their column');
like(answer(program('empty')), qr/^sharing +nothing to mend: no process had a second thread$/m, 'screen: one thread');
like(answer('-v', program('empty')), qr/^Findings .*\nnothing to mend: no process had a second thread$/m, '-v: the same');
like(answer('--least', 1000000, program('sharing'), 'padded', $rounds) =~ s/\n {11}/ /gr,
	qr/^sharing +nothing to mend: no line can go from thread to thread 1000000 times or more$/m, 'screen: too little');
my $contended = answer(program('sharing'), 'true', $rounds) =~ s/\n {4}/ /gr;
like($contended, qr/^Findings\ncontended-line: sharing::common \(sharing\.c:\d+\) 2 threads use the same bytes of line 0x[0-9a-f]+, the two that do most 10,000 and 10,000 times: up to 10,000 transfers there and back, \d+\.?\d* per thousand instructions; thread \d+ writes in count \(sharing\.c:\d+\), thread \d+ there, too\. Hand over less often: /m,
	'screen: what has to be shared, all the time');
unlike($contended, qr/nothing to/, 'screen: there is something to mend');
like(answer('--quantum', 10, program('sharing'), 'true', $rounds) =~ s/\n {4}/ /gr,
	qr/transfers there and back, \d+\.?\d* per thousand instructions, \d,\d{3} of them if threads take turns of 10 data references/, 'screen: with turns');
like(answer(program('sharing'), 'true', 500) =~ s/\n {11}/ /gr,
	qr/^sharing +nothing to mend: no line is handed over 2,000 times, and once in 1,000 instructions$/m, 'screen: what has to be shared, and seldom is');
like(answer(program('sharing'), 'false', 500) =~ s/\n {11}/ /gr,
	qr/^sharing +nothing to mend: no data has 2,000 writes by each of two threads, /m, 'screen: false, and too little');

my $deep = scratch('new/folder/sharing.txt');
run(command => [cli(), 'sharing', '-o', $deep, program('sharing'), 'false', $rounds]);
like(read_file($deep) // '', qr/^False sharing: 1 line that/m, 'a file in folders that are not there yet has the whole');

my $check = run(command => ['/usr/bin/python3', '-c', <<'END', source() . '/doc/cachepeek-sharing-1.schema.json', $false->{file}, $queue->{file}]);
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    jsonschema.validate(json.load(open(name)), schema)
END
is(status_text($check->{status}), 'exit 0', 'JSON: as the schema says') or diag($check->{err});

# ---- bad input, and runs of another kind ----

for my $bad (['--quantum', '0'], ['--least', 'few'], ['-o', 'x.csv']) {
	my $run = run(command => [cli(), 'sharing', @$bad, program('sharing')]);
	is(status_text($run->{status}), 'exit 2', "@$bad: refused");
	like($run->{err}, qr/^cachepeek: .*\Q$bad->[1]\E: (?:expected|use)/, "@$bad: and why");
}
my $directory = scratch('dcache');
run(command => [cli(), 'dcache', '-d', $directory, '-o', scratch('d.txt'), program('empty')]);
my $none = run(command => [cli(), 'sharing', '-d', $directory]);
is(status_text($none->{status}), 'exit 1', 'a profile of misses: not this');
like($none->{err}, qr/takes CACHEPEEK_PROFILE=sharing/, 'and why');

done_testing;
