#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# make, shells, compilers, linkers: the same files as without us, and one
# report of all of them.
# BUILD_TARGET: what is built ("all": everything; a room or two and a program without it).
use strict;
use warnings;
use File::Find qw(find);
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'the kernel counts no software events here') unless can_count('software');

# The same place for both: it is in the files.
my $place = scratch('place');
my @objects = map { s{.*/(?=base/)}{}r =~ s/\.c$/.o/r } glob(source() . '/base/{counters,engine,files,text}/*.c');
my @targets = $ENV{BUILD_TARGET} || map { "$place/$_" } @objects, 'tests/programs/matmul';
# With ccache in front of them no compilers would run.
my %clean = (CCACHE_DISABLE => 1,
	map { $_ => undef } qw(MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES B));
my @make = ('make', '-s', '-j2', '-C', source(), "B=$place", @targets);

# Every file with a sum of what is in it.
sub files
{
	my %sum;
	find({no_chdir => 1, wanted => sub {
		return unless -f $_;
		my $text = read_file($_);
		$sum{substr($_, length($place))} = length($text) . ':' . unpack('%64C*', $text);
	}}, $place);
	return \%sum;
}

my $plain = run(command => \@make, env => \%clean);
my $expected = files();
rename($place, "$place-plain") or die "rename: $!";
my $run = peek(engine => 'perf', command => \@make, env => \%clean);

is(status_text($plain->{status}), 'exit 0', 'it builds') or diag($plain->{err});
is(status_text($run->{status}), 'exit 0', 'with the library, too') or diag($run->{err});
is($run->{err}, $plain->{err}, 'nothing more on stderr');
is(notes($run), 0, 'nothing to say') or diag(@{$run->{notes}});
cmp_ok(scalar(keys %$expected), '>', 50, scalar(keys %$expected) . ' files');
is_deeply(files(), $expected, 'the same files');

my %count;
# Many that ended alike are one row.
$count{$_->{exe} =~ s{.*/}{}r} += $_->{folded} ? $_->{folded}{processes} : 1 for leaves($run->{report});
my $compiled = grep { /\.o$/ && !/embedded/ } keys %$expected;
cmp_ok($count{cc1}, '>=', $compiled, "a cc1 for each of $compiled objects");
is($count{make}, 1, 'one make') or diag(join(' ', map { "$_ $count{$_}" } sort keys %count));
# A writer may find that cmp has seen enough: signal 13 is SIGPIPE.
my @ends = map { $_->{folded} ? @{$_->{folded}{ends}} : $_->{exit} } @{$run->{report}{processes}};
my @cut = grep { $_->{how} !~ /^(exit|exec)$/ && ($_->{code} // 0) != 13 } @ends;
is(scalar(@cut), 0, 'each process is there to its end') or diag(map { "$_->{how} $_->{code}\n" } @cut);
is_deeply($run->{report}{not_followed} || [], [], 'and none was left behind');
ok_sums($run->{report}, 'the whole build');
done_testing();
