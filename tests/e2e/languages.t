#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The markers of C++, Fortran and Python: nothing without the library, regions
# with it, however a block is left.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $include = source() . '/regions';
my @sim = (engine => 'sim', events => 'instructions');

sub calls { (region(@_) || {calls => 'none'})->{calls} }

# Output and status are those without the library; returns the report.
sub same
{
	my ($what, $out, @command) = @_;
	my %run = (command => \@command, env => {PYTHONPATH => $include, PYTHONDONTWRITEBYTECODE => 1});
	my $plain = run(%run);
	is($plain->{out} . $plain->{err}, $out, "$what: without the library");
	my $with = peek(@sim, %run);
	is($with->{out} . $with->{err}, $out, "$what: the same with it");
	is(status_text($with->{status}), 'exit 0', "$what: and a good end");
	is_deeply($with->{report}{warnings}, [], "$what: nothing to warn of");
	return $with->{report};
}

sub compiled
{
	my ($what, $out, $name, $text, @command) = @_;
	my $source = write_file(scratch($name), $text);
	my $exe = scratch("$name.exe");
	my $build = run(command => [map { $_ eq 'SOURCE' ? $source : $_ } @command, '-o', $exe]);
	is($build->{err}, '', "$what: compiles") or return undef;
	return same($what, $out, $exe);
}

for my $compiler (qw(g++ clang++)) {
	SKIP: {
		skip("no $compiler here", 1) unless which($compiler);
		my $report = compiled($compiler, "caught 3\n", 'scope.cc', <<'CC', $compiler, '-std=c++11', '-Wall', '-Wextra', '-Werror', '-pedantic', "-I$include", 'SOURCE');
#include <cachepeek.h>
#include <cstdio>
#include <stdexcept>
static int deep(int n)
{
	CACHEPEEK_SCOPE("deep");
	if (n == 0)
		throw std::runtime_error("enough");
	return deep(n - 1);
}
int main()
{
	int caught = 0;
	cachepeek_region again = cachepeek_region_register("again");
	for (int i = 0; i < 3; i++) {
		cachepeek::scope loop("loop");
		cachepeek::scope inner(again);
		try {
			deep(2);
		} catch (const std::runtime_error &) {
			caught++;
		}
		if (i == 1)
			continue;
		CACHEPEEK_SCOPE("after");
	}
	std::printf("caught %d\n", caught);
}
CC
		my @deep = qw(loop again deep);
		is(calls($report, 'loop', 'again'), 3, "$compiler: a region for each pass");
		is(calls($report, @deep, ('deep') x $_), 3, "$compiler: $_ deep, left by an exception") for 0 .. 2;
		is(calls($report, qw(loop again after)), 2, "$compiler: what comes after is outside of it");
	}
}

SKIP: {
	skip('no gfortran here', 1) unless which('gfortran');
	my $report = compiled('Fortran', "-38\n", 'marked.f90', <<'F90', 'gfortran', '-Wall', '-Werror', '-J', scratch(), "$include/cachepeek.f90", 'SOURCE');
program marked
   use cachepeek
   use iso_c_binding
   implicit none
   type(cachepeek_region) :: halo
   character(len=20) :: padded = 'padded'
   integer(c_int64_t) :: value
   integer :: i

   halo = cachepeek_region_register('halo')
   call cachepeek_begin('solve')
   do i = 1, 5
      call cachepeek_begin(halo)
      call cachepeek_pause()
      call cachepeek_resume()
      call cachepeek_end(halo)
   end do
   call cachepeek_begin(padded)
   call cachepeek_end(padded)
   call cachepeek_end('solve')
   call cachepeek_flush()
   if (cachepeek_active()) then
      if (cachepeek_read('instructions', value) == 0 .and. value > 0) print '(i0)', -38
   else
      print '(i0)', cachepeek_read('instructions', value)
   end if
end program
F90
	is(calls($report, 'solve'), 1, 'Fortran: by name');
	is(calls($report, 'solve', 'halo'), 5, 'Fortran: by handle');
	is(calls($report, 'solve', 'padded'), 1, 'Fortran: blanks at the end do not count');
}

SKIP: {
	my $python = which('python3') or skip('no python3 here', 1);
	my $script = write_file(scratch('marked.py'), <<'PY');
import cachepeek

@cachepeek.region
def square(x):
    "doc"
    return x * x

@cachepeek.region("fails")
def fails():
    raise KeyError("k")

with cachepeek.region("outer"):
    total = sum(square(i) for i in range(4))
    for i in range(2):
        try:
            fails()
        except KeyError:
            total += 1
    with cachepeek.region("pausen \N{HOT BEVERAGE}"):
        cachepeek.pause()
        cachepeek.resume()
cachepeek.begin(b"bytes \xff")
cachepeek.end(b"bytes \xff")
cachepeek.flush()
try:
    ok = cachepeek.read("instructions") > 0
except OSError as error:
    ok = not cachepeek.active() and error.errno == 38
try:
    cachepeek.region(lambda: (yield))
except TypeError:
    total += 100
print(total, ok, square.__name__, square.__doc__)
PY
	my $report = same('Python', "116 True square doc\n", $python, $script);
	is(calls($report, 'outer'), 1, 'Python: a context manager');
	is(calls($report, 'outer', 'square'), 4, 'Python: a decorator');
	is(calls($report, 'outer', 'fails'), 2, 'Python: left by an exception');
	is(calls($report, 'outer', "pausen \x{2615}"), 1, 'Python: any character');
	is(scalar(grep { ($_->{path}[0] || '') =~ /^bytes / } @{$report->{regions}}), 1, 'Python: any byte');
}
done_testing();
