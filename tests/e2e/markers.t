#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# regions/cachepeek.h in every kind of program: nothing happens without the
# library; with it the regions are there, where a preloaded library can be.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $c = write_file(scratch('marked.c'), <<'C');
#include <cachepeek.h>
#include <stdio.h>
static int inner(int n)
{
	int i, sum = 0;

	CACHEPEEK_BEGIN("inner");
	for (i = 0; i < n; i++)
		sum += i;
	CACHEPEEK_END("inner");
	return sum;
}
int main(void)
{
	CACHEPEEK_BEGIN("outer");
	printf("%d %d\n", inner(10), inner(20));
	CACHEPEEK_END("outer");
	return 0;
}
C
my $cc = write_file(scratch('marked.cc'), read_file($c));

my %standard = (c => ['-std=c99', '-std=gnu11'], cc => ['-std=c++98', '-std=c++11', '-std=c++17']);
my %compiler = (gcc => {c => 'gcc', cc => 'g++'}, clang => {c => 'clang', cc => 'clang++'});
my @kinds = (['a PIE', '-fPIE', '-pie'], ['no PIE', '-no-pie'],
	['no PIC at all', '-fno-pic', '-no-pie'], ['-fno-plt', '-fno-plt'],
	['optimised', '-O2', '-fPIE', '-pie'], ['static', '-static']);

for my $family (sort keys %compiler) {
	for my $language (qw(c cc)) {
		my $compiler = $compiler{$family}{$language};
		SKIP: {
			skip("no $compiler here", 1) unless which($compiler);
			check($compiler, $language, @$_) for @kinds;
			refuses($compiler, $language);
		}
	}
}

sub check
{
	my ($compiler, $language, $kind, @flags) = @_;
	my $what = "$compiler, $kind";
	for my $standard (@{$standard{$language}}) {
		my $exe = scratch('marked');
		unlink($exe);
		my $build = run(command => [$compiler, $standard, '-Wall', '-Wextra', '-Werror', '-pedantic',
			'-I' . source() . '/regions', @flags, '-o', $exe, scratch("marked.$language")]);
		is($build->{err}, '', "$what, $standard: compiles without a warning") or next;
		my $plain = run(command => [$exe]);
		is($plain->{out} . $plain->{err}, "45 190\n", "$what: a no-op without the library");
		is(status_text($plain->{status}), 'exit 0', "$what: that ends well");
	}
	my $disabled = peek(engine => 'sim', env => {CACHEPEEK_DISABLE => 1}, command => [scratch('marked')]);
	is($disabled->{out}, "45 190\n", "$what: a no-op with the library disabled");
	ok(!$disabled->{report}, "$what: and no report");
	my $with = peek(engine => 'sim', events => 'instructions', command => [scratch('marked')]);
	is($with->{out}, "45 190\n", "$what: the same with the library");
	return if $kind eq 'static';
	is(region($with->{report}, 'outer', 'inner')->{calls}, 2, "$what: its regions are counted");
}

# A macro looks its name up once: one that may change is refused by the compiler.
sub refuses
{
	my ($compiler, $language) = @_;
	my %use = ('"literal"' => 1, '"two " "parts"' => 1, '__FILE__' => 1,
		'parameter' => 0, 'array' => 0, 'on ? "one" : "other"' => 0, 'made()' => 0);
	for my $standard (@{$standard{$language}}) {
		for my $macro ('CACHEPEEK_BEGIN', 'CACHEPEEK_END', $language eq 'cc' ? 'CACHEPEEK_SCOPE' : ()) {
			for my $name (sort keys %use) {
				my $file = write_file(scratch("name.$language"), <<"C");
#include <cachepeek.h>
const char *made(void);
void f(const char *parameter, int on);
void f(const char *parameter, int on)
{
	static char array[] = "array";
	(void)array, (void)on, (void)parameter;
	$macro($name);
}
C
				my $build = run(command => [$compiler, $standard, '-Wall', '-Wextra', '-Werror', '-pedantic',
					'-I' . source() . '/regions', '-fsyntax-only', $file]);
				my $what = "$compiler, $standard: $macro($name)";
				if ($use{$name}) { is($build->{err}, '', "$what is taken"); next }
				my $by_name = $macro eq 'CACHEPEEK_SCOPE' ? 'cachepeek::scope' : 'cachepeek_begin_named';
				like($build->{err}, $standard =~ /98|99/ ? qr/the_name_must_be_a_string_literal/ :
					qr/string literal.*\Q$by_name\E/, "$what is refused, with what to use");
				isnt($build->{status}, 0, "$what does not compile");
			}
		}
	}
}
done_testing();
