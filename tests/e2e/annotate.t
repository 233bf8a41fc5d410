#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cachepeek annotate: a source file with the misses of each line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Peek;
use Test::More;

my ($dir, $json, $program) = (scratch('records'), scratch('profile.json'), scratch('program'));
mkdir(scratch($_)) for qw(one two);
my $text = <<'C';
static long get(const char *at, long i);
__attribute__((noinline)) long FUNCTION(const char *at)
{
	long sum = at[6400];
	for (long i = 0; i < 3000; i++)
		sum += get(at, i);
	return sum;
}
static long get(const char *at, long i)
{
	return at[64 * i]; /* NAME */
}
C
write_file(scratch('one/part.c'), $text =~ s/FUNCTION/one/r);
write_file(scratch('two/part.c'), $text =~ s/FUNCTION/two/r);
write_file(scratch('main.c'), <<'C');
#include <stdlib.h>
long one(const char *), two(const char *);
static volatile char pages[100][4096];
int main(void)
{
	char *at = calloc(3000, 64);
	for (int i = 0; i < 100; i++)
		pages[i][0] = 1; /* stored */
	return (one(at) + two(at + 1)) == 7;
}
C
system('cc', '-g', '-O1', '-o', $program, map { scratch($_) } qw(main.c one/part.c two/part.c)) == 0 or die;

sub annotate { return run(command => [cli(), 'annotate', @_]) }

# {line => [share, misses]}
sub lines_of
{
	my ($report) = @_;
	my %counted;
	for my $line (split /\n/, $report) {
		my ($share, $misses, $number) = $line =~ /^ *([\d.]+) +([\d,]+) .*  +(\d+)  (?!.*all of the file$)/ or next;
		$counted{$number} = [$share, $misses =~ s/,//gr];
	}
	return \%counted;
}

my $made = run(command => [cli(), 'dcache', '-m', bare('skylake-sp'), '-d', $dir, '-o', $json, $program]);
is($made->{err}, '', 'a run');
my $profile = decode_json(read_file($json));
my ($file) = grep { $_->{file} eq scratch('one/part.c') } @{$profile->{sources}};

# ---- from a directory, from JSON, from a run ----

my $kept = annotate('-d', $dir, scratch('one/part.c'));
is(status_text($kept->{status}), 'exit 0', 'from a directory') or diag($kept->{err});
my $counted = lines_of($kept->{out});
my %wanted = map { $_->{line} => $_->{counts}{l1d_load_misses} + $_->{counts}{l1d_store_misses} } @{$file->{lines}};
is_deeply({map { $_ => $counted->{$_}[1] } keys %$counted}, \%wanted, 'its lines have their misses');
cmp_ok($wanted{11}, '>', 2900, 'the load has them');
like($kept->{out}, qr{ 11          return at\[64 \* i\]; /\* NAME \*/$}m, 'beside its text');
like($kept->{out}, qr/^ +2  __attribute__\(\(noinline\)\) long one/m, 'with the lines that have none');
like($kept->{out}, qr/ 12  \}\n\nlatencies: [^\n]+\n?[^\n]*\n\z/, 'to the last');
my ($share) = $kept->{out} =~ /part\.c: ([\d.]+) % of the run's$/m;
my ($all, $of_file) = (0, 0);
$all = $profile->{counts}{l1d_load_misses} + $profile->{counts}{l1d_store_misses};
$of_file += $_ for values %wanted;
is($share, sprintf('%.2f', 100 * $of_file / $all), 'and the file\'s part of the run');

my $saved = annotate('-i', $json, 'one/part.c');
is($saved->{out}, $kept->{out}, 'from JSON: the same');
{
	my $run = annotate('-m', 'skylake-sp', '-o', scratch('out/run.txt'), 'two/part.c', $program);
	is(status_text($run->{status}), 'exit 0', 'from a run');
	like(read_file(scratch('out/run.txt')), qr/^source +\S*two\/part\.c: /m, 'into a file');
}
{
	my $run = annotate('-d', $dir, '--context-lines', 1, 'one/part.c');
	like($run->{out}, qr/^ +\.\.\.\n +3  \{\n.* 4   .*\n +5  .*\n +\.\.\.\n/m, 'with a line around each');
	unlike($run->{out}, qr/ 2  __attribute/, 'and no others');
}
{
	my $run = annotate('-d', $dir, '-p', 'dtlb', 'one/part.c');
	like($run->{out}, qr/^cachepeek \S+ annotate: Data TLB misses$/m, 'of the TLB');
	my $pages = lines_of($run->{out});
	cmp_ok($pages->{11}[1], '>=', 44, 'each page');
}

# ---- what was written before lines and pages were told apart from references ----

# No load or store of these files touches two lines: their misses are as many.
for my $measurement (qw(dcache dtlb)) {
	my ($new, $old) = map { scratch("$measurement-$_.json") } qw(new old);
	run(command => [cli(), $measurement, '-d', $dir, '-o', $new]);
	my $stripped = read_file($new);
	cmp_ok($stripped =~ s/"\w+_(?:load|store)_(?:lines|pages)": \d+, //g, '>', 10, "$measurement: older names");
	write_file($old, $stripped);
	for my $case (['one/part.c', 'NAME'], [scratch('main.c'), 'stored']) {
		my ($source, $line) = @$case;
		my ($now, $then) = map { annotate('-i', $_, $source) } $new, $old;
		like($now->{out}, qr{^ *[\d.]+ .* /\* $line \*/$}m, "... of a line with misses ($line)");
		is($then->{out}, $now->{out}, '... make the same of it');
	}
}

# ---- which file ----

like(annotate('-d', $dir, 'part.c')->{err},
	qr{^cachepeek: part\.c may be (\S+/one/part\.c, \S+/two|\S+/two/part\.c, \S+/one)/part\.c: give more of the path$},
	'two of one name');
like(annotate('-d', $dir, 'art.c')->{err}, qr/no line of art\.c is known to have a miss in this run, but [\d.]+ % of the misses are in code without line numbers, most of it in \S+: build that with -g; those that have most: \S/,
	'none of that name');
{
	rename(scratch('one'), scratch('moved'));
	my $run = annotate('-d', $dir, 'one/part.c');
	like($run->{out}, qr/^warning: \S+ cannot be read: name it where it is now$/m, 'a source that is not there');
	like($run->{out}, qr/^ *[\d.]+ +[\d,]+ .* 11  $/m, 'its lines have numbers');
	mkdir(scratch('elsewhere'));
	mkdir(scratch('elsewhere/one'));
	rename(scratch('moved/part.c'), scratch('elsewhere/one/part.c'));
	$run = run(command => [cli(), 'annotate', '-d', $dir, 'one/part.c'], cwd => scratch('elsewhere'));
	like($run->{out}, qr{ 11          return at\[64}, 'named where it is now');
	utime(time + 100, time + 100, scratch('elsewhere/one/part.c'));
	$run = run(command => [cli(), 'annotate', '-d', $dir, 'one/part.c'], cwd => scratch('elsewhere'));
	like($run->{out}, qr/^warning: the file was written after the program/m, 'and changed');
}
{
	my $stripped = scratch('stripped');
	system('strip', '-o', $stripped, $program);
	my $run = annotate('one/part.c', $stripped);
	like($run->{err}, qr/most of it in stripped: build that with -g;|no lines of source are known/, 'a stripped program');
}

# ---- mistakes ----

# As older versions wrote them, with an engine that is gone.
my $of_shadows = write_file(scratch('shadows.json'), '{"schema": "cachepeek-profile/1", "measurement": "dcache", "shadows": {"windows": 40}}');
for my $case ([[], 2, qr/which source file\?/], [['-i', $of_shadows, 'x.c'], 1, qr/shadows\.json is of a sample /], [['-p', 'l1', 'x.c'], 2, qr/expected dcache, dtlb or icache/],
	[['--context-lines', 'x', 'x.c'], 2, qr/a number from 0 to 1000/],
	[['-i', $json, 'x.c', '/bin/true'], 2, qr/either -i or a program/],
	[['-i', '/nonesuch', 'x.c'], 1, qr/nonesuch/],
	[['-i', source() . '/LICENSE', 'x.c'], 1, qr/LICENSE:1: not JSON .*: make a file of that with cachepeek dcache/], [['-i', source() . '/doc/cachepeek-profile-1.schema.json', 'x.c'], 1,
	qr/is not the JSON of cachepeek dcache, dtlb or icache/], [['-d', '/nonesuch', 'x.c'], 1, qr/No such file/]) {
	my ($arguments, $status, $why) = @$case;
	my $run = annotate(@$arguments);
	is(status_text($run->{status}), "exit $status", "annotate @$arguments");
	like($run->{err}, $why, 'says why');
	is(scalar(split /\n/, $run->{err}), 1, 'in one line');
}

# ---- as a page ----

{
	my $evil = '</pre><script>document.title = 1</script><img src=x onerror="alert(1)">&amp;';
	mkdir(scratch('evil<b>'));
	my $file = write_file(scratch('evil<b>/part.c'), $text =~ s/FUNCTION/evil/r =~ s/NAME/$evil/r);
	write_file(scratch('evil.c'), "#include <stdlib.h>\nlong evil(const char *);\nint main(void) { return evil(calloc(3000, 64)) == 7; }\n");
	system('cc', '-g', '-O1', '-o', scratch('evil'), scratch('evil.c'), $file) == 0 or die;
	my $page = scratch('evil.html');
	my $run = annotate('-m', 'skylake-sp', '-o', $page, 'part.c', scratch('evil'), '<i>argument</i>');
	is($run->{err}, '', 'a page of a hostile source');
	my $html = read_file($page);
	like($html, qr{\A<!doctype html>\n<html.*</html>\n\z}s, 'it is a page');
	my ($source) = $html =~ m{<pre id="source"[^>]*>\n(.*)</pre>}s;
	is(join(' ', $html =~ m{<(/?[a-z!]+)}g), '!doctype html head meta meta meta title /title style /style /head body main h /h ' .
		'pre /pre /main /body /html', '... with no element but its own');
	unlike($source, qr/[<>"]/, '... and no character in the source that is one of HTML');
	like($source, qr/\Q${\($evil =~ s{&}{&amp;}gr =~ s{<}{&lt;}gr =~ s{>}{&gt;}gr =~ s{"}{&quot;}gr)}\E/, '... which is there as it is');
	like($source, qr/&lt;i&gt;argument/, '... the arguments, too');
	like($html, qr/Content-Security-Policy" content="default-src 'none'/, '... and nothing may run');
	$run = annotate('-i', $json, '-o', scratch('page.json'), 'one/part.c');
	is(status_text($run->{status}), 'exit 2', 'an ending that promises something else is refused');
	like($run->{err}, qr/page\.json: use -, stderr, or a file that ends in \.txt or \.html/, '... with what can be written');
	ok(!-e scratch('page.json'), '... and nothing is written');
}

done_testing;
