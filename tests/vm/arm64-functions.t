#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Functions as regions where the kernel counts, on arm64: entries patched at run time.
# The program does what it does unpatched, and all its calls are there; on a CPU with
# signed return addresses, marked entries and scalable vectors, too.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Vm;

my $dir = need_vm('arm64');
my @functions = qw(many deep touch inner_jump outer_jump leaves after_all floats tail_* big early s_*);
my $regions = join(',', map { "func:$_" } @functions);
my $perf = 'CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=page-faults';

# As the program has them.
my %calls = (
	many => (1 << 12) + 4 * 1000, 'early/many' => 1, early => 2, floats => 1, big => 1, touch => 2, tail_from => 1,
	'tail_from/tail_to' => 1, outer_jump => 10, (map { 'outer_jump' . '/inner_jump' x $_ => 10 } 1 .. 4),
	(map { join('/', ('deep') x $_) => 1 } 1 .. 101), leaves => 4, 'leaves/leaves' => 4, 'leaves/leaves/leaves' => 4,
	after_all => 4, s_bl_first => 1, 's_bl_first/s_blr_first' => 1, 's_bl_first/s_blr_first/many' => 1, s_keeps => 1,
	(map { ("s_$_" => 5) } qw(ret adr adrp ldr_x ldr_w ldrsw ldr_s ldr_d ldr_q prfm cbz cbnz tbz tbnz cond b bl loop bti signed bti_signed)),
	map { ("s_$_/many" => 5) } qw(b signed bti_signed),
);

for my $cpu (qw(neoverse-n1 max)) {
	my $runs = boot($dir, $cpu, 'free', "run plain $perf /bin/vm_functions",
		"run patched $perf CACHEPEEK_REGIONS=$regions /bin/vm_functions");
	my ($plain, $patched) = @$runs{qw(plain patched)};
	my %got;

	is(status($patched), 0, "$cpu: it ends as without regions");
	cmp_ok(length($plain->{out} // ''), '>', 500, "$cpu: what it prints");
	is($patched->{out}, $plain->{out}, "$cpu: is the same with them");
	$got{join('/', @{$_->{path}})} += $_->{calls} for grep { @{$_->{path}} } @{$patched->{report}{regions} || []};
	is_deeply(\%got, \%calls, "$cpu: all calls") or
		diag(explain({map { $_ => [$got{$_}, $calls{$_}] } grep { ($got{$_} // 0) != ($calls{$_} // 0) } keys %got, keys %calls}));
	is(count(region($patched->{report}, 'touch'), 'page-faults')->{value}, 300, "$cpu: and all page faults of one");
	is_deeply([grep { /func:/ } @{$patched->{report}{warnings} || []}], ['CACHEPEEK_REGIONS=func: 1 function is no region: something jumps into the bytes ' .
		'that the patch takes: s_signed_loop'], "$cpu: what cannot be patched is named") or diag(explain($patched->{report}{warnings}));
}
done_testing();
