#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Instruction by instruction on arm64: each class of loads and stores makes the references
# that the architecture has, and touches the lines of its operand.  programs/vm_encodings.c
# says how.  What the core does not emulate ends with a signal, and is left out.
# ENCODINGS_TABLE=1 prints the encodings and those executed, as in doc/validation.md.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Vm;

my $dir = need_vm('arm64');

# On a machine without prefetchers, whatever the processor.
my $run = boot($dir, 'neoverse-n1', 'free',
	'run encodings CACHEPEEK_ENGINE=sim CACHEPEEK_MACHINE=cachegrind CACHEPEEK_EVENTS=instructions /bin/vm_encodings')->{encodings};
is(status($run), 0, 'the program ended well');

my %lines = map { $_ => 0 } qw(all executed);
for my $line (split(/\n/, $run->{out})) {
	my ($loads, $stores, $size, $got, $text) = $line =~ /^(\d+) (\d+) (\d+): (.*?): (.*)/ or next;
	$lines{all}++;
	next if $got eq 'signal';
	$lines{executed}++;

	my ($got_loads, $got_stores, $ends, $crosses) = split(/ /, $got);
	is("$got_loads loads and $got_stores stores", "$loads loads and $stores stores", $text);
	is($ends, 1, "$text: one line where the operand ends with it") if $size;
	is($crosses, $size > 1 ? 2 : 1, "$text: the next, too, a byte later") if $size && $crosses ne '-';
}
cmp_ok($lines{executed}, '>', 200, 'two hundred were executed');
cmp_ok($lines{all} - $lines{executed}, '<', 10, 'and almost all')
	or diag(join("\n", grep { /: signal: / } split(/\n/, $run->{out})));
print("| $lines{all} | $lines{executed} |\n") if $ENV{ENCODINGS_TABLE};

done_testing();
