#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A library of the program that is initialised before all others (-z initfirst), us among
# them: what runs before us runs twice under the simulated PMU, which one line says.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

my $text = <<'C';
#include <unistd.h>
__attribute__((constructor)) static void begin(void) { write(1, NAME " begins\n", sizeof(NAME " begins\n") - 1); }
C
my $library = compiled('libhasty.so', "#define NAME \"hasty\"\n$text", 'gcc', '-w', '-shared', '-fPIC', 'SOURCE', '-Wl,-z,initfirst');
my $calm = compiled('libcalm.so', "#define NAME \"calm\"\n$text", 'gcc', '-w', '-shared', '-fPIC', 'SOURCE');
my $main = "#define NAME \"program\"\n$text\nint main(void) { return 0; }\n";
my @link = ('-Wl,--no-as-needed', '-Wl,-rpath,' . scratch());
my $exe = compiled('hasty', $main, 'gcc', '-w', 'SOURCE', @link, $calm, $library);
my $none = compiled('calm', $main, 'gcc', '-w', 'SOURCE', @link, $calm);

my $line = 'libhasty.so asks to be initialised first: its constructors, and others of libraries, run twice on the simulated PMU';
for my $case (['hasty', $exe, 1], ['calm', $none, 0]) {
	my ($name, $program, $hasty) = @$case;
	my $plain = run(command => [$program]);
	is(status_text($plain->{status}), 'exit 0', "$name: alone");
	my $sim = peek(@SIM, command => [$program]);
	is(status_text($sim->{status}), 'exit 0', "$name, sim: its end");
	like($sim->{out}, qr/\Q$plain->{out}\E\z/, "$name, sim: all its constructors have run");
	isnt($sim->{out}, $plain->{out}, "$name, sim: some twice") if $hasty;
	is($sim->{out}, $plain->{out}, "$name, sim: once") if !$hasty;
	is(join('', @{$sim->{notes}}), $hasty ? "cachepeek: $line\n" : '', "$name, sim: what is said");
	is_deeply([grep { /initialised/ } @{$sim->{report}{warnings}}], $hasty ? [$line] : [], "$name, sim: and in the report");
	SKIP: {
		skip('perf: the kernel counts no software events here', 2) unless can_count('software');
		my $perf = peek(@PERF, command => [$program]);
		is($perf->{out}, $plain->{out}, "$name, perf: once");
		is(join('', @{$perf->{notes}}), '', "$name, perf: nothing is said");
	}
}
done_testing();
