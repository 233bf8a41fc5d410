# SPDX-License-Identifier: MIT
# Shared by the tests on emulated machines: boot one with a list of runs, and
# find their reports on its console.
package Vm;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/../e2e';
use Json;

our @EXPORT = qw(need_vm boot thread region count notes within status);

my $here = dirname(__FILE__);
my $scratch = tempdir('vm-XXXXXX', TMPDIR => 1, CLEANUP => 1);

# The machine's directory, made by prepare.sh; what it lacks skips the test.
sub need_vm
{
	my ($arch) = @_;
	my $dir = ($ENV{VM} || 'build/vm') . "/$arch";
	if (open(my $missing, '<', "$dir/missing")) {
		my $why = <$missing>;
		chomp($why);
		plan(skip_all => $why);
	}
	return $dir;
}

# boot(DIR, CPU, MODE, LINES...) -> {NAME => {out, report, status}, console => TEXT}
sub boot
{
	my ($dir, $cpu, $mode, @lines) = @_;
	my $file = "$scratch/tests";
	open(my $tests, '>', $file) or die "$file: $!";
	print $tests map { "$_\n" } @lines;
	close($tests) or die "$file: $!";
	my $console = `sh $here/boot.sh '$dir' '$cpu' '$file' $mode`;
	my %runs = (console => $console);
	while ($console =~ /\@begin (\S+)\n(.*?)\@report \1\n(.*?)\n\@end \1 (\d+)/sg) {
		$runs{$1} = {out => $2, report => eval { decode_json($3) }, status => $4};
	}
	my $complete = $console =~ /^\@off$/m && $console !~ /^\@error/m;
	ok($complete, "$cpu $mode: booted, ran everything and switched itself off") or
		diag(substr($console, -3000));
	return \%runs;
}

sub status { defined $_[0] && defined $_[0]{status} ? $_[0]{status} : 'none' }

# The thread of this name in the run's only (or first) process.
sub thread
{
	my ($run, $name) = @_;
	for my $process (@{$run->{report}{processes} || []}) {
		for my $thread (@{$process->{threads}}) {
			return $thread if $thread->{name} eq $name;
		}
	}
	return {};
}

sub region
{
	my ($in, @path) = @_;
	for my $region (@{$in->{regions} || []}) {
		return $region if join("\0", @{$region->{path}}) eq join("\0", @path);
	}
	return {};
}

sub count { $_[0]{counts}{$_[1]} || {} }

# Lines of the library on the console during the run.
sub notes { join('', grep { /^cachepeek: / } split(/^/, $_[0]{out} || '')) }

# Is the value there, and that near to the truth?
sub within
{
	my ($count, $truth, $part, $what) = @_;
	my $value = $count->{value};
	my $held = ok(defined $value && abs($value - $truth) <= $part * $truth, $what);
	diag(defined $value ? "$value, truth $truth, error " . ($count->{error} // 'none') :
		"no value: " . ($count->{reason} // '?')) unless $held;
	return $held;
}

1;
