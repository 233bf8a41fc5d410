#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Where findings are: nowhere in code that no program can change.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use List::Util qw(shuffle);
use Peek;
use Test::More;

sub outcome
{
	my ($command, $machine, @rest) = @_;
	my $json = scratch('report.json');
	unlink($json);
	my $run = run(command => [cli(), $command, '-m', $machine, '-o', $json, @rest]);
	my $report = eval { decode_json(read_file($json) // '') };
	diag($run->{err}) unless $report;
	return $report;
}

sub compile
{
	my ($file, @command) = @_;
	system(@command, '-o', scratch($file)) == 0 or die "@command";
	return scratch($file);
}

# ---- what nobody can mend ----

my @names = map { "one_function_of_many_in_a_library_number_$_" } 1 .. 9000;
write_file(scratch('many.c'), join('', map { "int $_(void) { return 1; }\n" } @names));
srand(1);
@names = shuffle(@names);
write_file(scratch('uses.c'), join('', map { "int $_(void);\n" } @names) .
	'int (*const table[])(void) = {' . join(', ', @names) . "};\nint main(int n, char **words) { return table[n]() != table[n](); }\n");
my $many = compile('libmany.so', 'cc', '-shared', '-fPIC', scratch('many.c'));
my $uses = compile('uses', 'cc', scratch('uses.c'), $many);
my $loading = outcome('dcache', 'neoverse-n2', $uses);
is_deeply([map { "$_->{rule}: $_->{function}$_->{data}" } @{$loading->{findings}}], [], 'the dynamic loader: no finding');
like($loading->{below_limit} // '', qr/finding.? in the dynamic loader, which takes less where fewer symbols/, '... but what makes it take less');

done_testing();
