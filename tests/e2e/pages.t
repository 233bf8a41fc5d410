#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Pages of runs whose names are markup: beside their data they are byte for byte those of
# runs with harmless names, and nothing in the data ends the element that it is in.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use POSIX ();
use Test::More;

my $evil = '</script></pre><script>alert(1)</script><!--&amp;"\'';
my $source = <<'C';
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include "cachepeek.h"
static void *work(void *at)
{
	long sum = 0;
	for (int i = 0; i < 3000; i++)
		sum += ((volatile char *)at)[64 * i]; /* NAME */
	return (void *)sum;
}
int main(void)
{
	void *at = calloc(3000, 64);
	pthread_t thread;
	pthread_setname_np(pthread_self(), THREAD);
	CACHEPEEK_BEGIN(REGION);
	work(at);
	CACHEPEEK_END(REGION);
	pthread_create(&thread, 0, work, at);
	pthread_join(thread, 0);
	return 0;
}
C

# The program, in a directory and a file of such a name (paths have no slashes to spare).
sub build_with
{
	my ($name) = @_;
	my $file = $name =~ s{/}{\\}gr;
	my $directory = scratch("d$file");
	mkdir($directory) or die "$directory: $!";
	my $literal = $name =~ s/(["\\])/\\$1/gr;
	my $thread = substr($name, 0, 15) =~ s/(["\\])/\\$1/gr;
	write_file("$directory/$file.c", $source =~ s/NAME/$name/r =~ s/THREAD/"$thread"/r =~ s/REGION/"$literal"/gr);
	system('cc', '-g', '-O1', '-pthread', '-I' . source() . '/regions', '-o', "$directory/$file", "$directory/$file.c") == 0 or die;
	return ("$directory/$file", "$file.c");
}

# A host of that name, where that can be had.
my @uts = run(command => ['unshare', '--uts', 'true'])->{status} ? () : ('unshare', '--uts', 'perl', '-e',
	'my $name = shift; syscall(' . ((POSIX::uname())[4] =~ /aarch64/ ? 161 : 170) . ', $name, length($name)); exec(@ARGV) or exit(127)');
sub on_host { return @uts ? (@uts, @_) : @_[1 .. $#_] }

sub pages
{
	my ($name) = @_;
	my ($program, $file) = build_with($name);
	my %page;
	for my $case (
		['run', {CACHEPEEK_ENGINE => 'sim', CACHEPEEK_GROUPS => 'cache', LD_PRELOAD => lib(), CACHEPEEK_OUTPUT => 'OUTPUT'}, $program, $name],
		['sweep', {}, cli(), '-E', 'sim', '--sweep', 'L2.size=256K..1M', '-g', 'cache', '-o', 'OUTPUT', $program, $name],
		['compare', {}, cli(), 'compare', '-m', 'zen3,skylake-sp', '-o', 'OUTPUT', $program, $name],
		['dcache', {}, cli(), 'dcache', '--sharing', '-m', 'skylake-sp', '-o', 'OUTPUT', $program, $name],
		['annotate', {}, cli(), 'annotate', '-m', 'skylake-sp', '-o', 'OUTPUT', $file, $program, $name],
	) {
		my ($kind, $env, @command) = @$case;
		my $output = scratch("$kind.html");
		unlink($output);
		my $run = run(command => [on_host(substr($name, 0, 60), 'env', (map { "$_=" . $env->{$_} =~ s/^OUTPUT$/$output/r } sort keys %$env),
			map { s/^OUTPUT$/$output/r } @command)]);
		$page{$kind} = read_file($output);
		ok($page{$kind}, "$kind: a page") or diag($run->{err});
	}
	return %page;
}

# The page without its data, and the data.
sub parts
{
	my ($page) = @_;
	my @data;
	$page =~ s{(<script[^>]*type="application/json"[^>]*>)(.*?)(</script>)}{push(@data, $2); "$1$3"}gse;
	$page =~ s{(<pre id="source"[^>]*>)(.*?)(</pre>)}{push(@data, $2); "$1$3"}gse;
	return ($page, join('', @data));
}

my %harmless = pages('harmless');
my %hostile = pages($evil);
for my $kind (sort keys %harmless) {
	my ($shell, $data) = parts($harmless{$kind} // '');
	my ($evil_shell, $evil_data) = parts($hostile{$kind} // '');
	ok($shell eq $evil_shell, "$kind: beside its data the page is that of any other run");
	# Text that ends a script, or hides its end, is escaped in JSON; in text all of it is.
	ok(length $evil_data && $evil_data !~ ($kind eq 'annotate' ? qr/</ : qr{<[/!]}), '... and nothing in the data ends it');
	like($evil_data, qr/alert\(1\)/, '... which has the names');
}
done_testing();
