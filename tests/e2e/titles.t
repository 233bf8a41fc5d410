#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The kernel's layout of arguments, variables and auxiliary vector is there with the
# library, too: programs write their title over it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

my $title = program('title');
my $can_show = run(command => [$title, 'can'])->{status} == 0;

# Words that a program is started with: its name as long as its path, shorter, longer.
my %names = (
	'by its path' => $title,
	'by a short name' => 't',
	'by no name' => '',
	'by a long name' => 'a rather long name ' . 'x' x 500,
	'by a name longer than all variables' => 'y' x 20_000,
);

sub compare
{
	my ($what, %run) = @_;
	my $plain = plain(%run);
	my $with = peek(%run);
	is($with->{out}, $plain->{out}, "$run{engine}: $what: same output");
	is($with->{err}, $plain->{err}, "$run{engine}: $what: nothing on stderr");
	is(status_text($with->{status}), status_text($plain->{status}), "$run{engine}: $what: same status");
	is(notes($with), 0, "$run{engine}: $what: nothing to say") or diag(@{$with->{notes}});
	return ($plain, $with);
}

for my $engine ((can_count('software') ? 'perf' : ()), 'sim') {
	for my $name (sort keys %names) {
		my ($plain, $with) = compare("layout, started $name", engine => $engine,
			file => $title, command => [$names{$name}, 'layout', '', 'two words']);
		unlike($plain->{out}, qr/NO/, "$engine: layout, started $name: that of the kernel");
		is_deeply($with->{report}{command}, [$names{$name}, 'layout', '', 'two words'],
			"$engine: layout, started $name: its command line in the report");
	}

	SKIP: {
		skip('this kernel does not let processes say where their strings are', 1)
			if $engine eq 'sim' && !$can_show;
		for my $way (qw(nginx postgres sendmail libbsd)) {
			my ($plain, $with) = compare($way, engine => $engine, command => [$title, $way, 'a', 'b']);
			skip('libbsd is not installed', 1) if $plain->{status} >> 8 == 77;
			like($plain->{out}, qr/^(title: )?title: it works$/m, "$engine: $way: the title is shown");
			is_deeply($with->{report}{command}, [$title, $way, 'a', 'b'],
				"$engine: $way: the report has the command line");
			is(join(' ', sort map { $_->{exit}{code} } leaves($with->{report})), '3 5 7',
				"$engine: $way: all its processes");
		}
		compare('perl\'s $0', engine => $engine, command => [which('perl'), '-e',
			'$0 = "a title"; open(F, "/proc/self/cmdline"); print <F>; exit(wait() && $? >> 8) if fork; exit 4']);
	}
}

done_testing();
