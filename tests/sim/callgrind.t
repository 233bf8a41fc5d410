#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# L1D misses by function, on the same geometry, as callgrind has them: those of each
# program that have 1 % of its misses (of four, the twenty that miss most), and each object
# as a whole.  Of stripped objects only the whole: callgrind gives what functions without a
# name have to the one that jumped there.
use strict;
use warnings;
no warnings 'qw';
use File::Temp 'tempdir';
use FindBin;
use List::Util qw(max sum);
use lib $FindBin::Bin, "$FindBin::Bin/../e2e";
use Json;
use Programs;
use Sim;
use Test::More;

my @ours = qw(--pieces=yes --cache-instructions=no --l1i=64,8,64 --l1d=64,8,64 --l2=0,0,0 --llc=8192,16,64);
my @theirs = qw(--cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64
	--compress-strings=no --compress-pos=no);

my ($lib) = grep { -d } qw(/usr/libexec/valgrind /usr/lib/valgrind);
plan skip_all => 'no callgrind here' unless $lib && glob "$lib/callgrind-*-linux";
symlink "$BUILD/libcachepeek", "$SCRATCH/lib0";
symlink $lib, "$SCRATCH/lib1";

my ($all, $sources, $document) = @ENV{qw(CALLGRIND_ALL CALLGRIND_SOURCES CALLGRIND_TABLE)};
my %built = $sources ? map { split(/[ \n]/) } `WORK='$sources' $FindBin::Bin/../suites/symbols.sh` : ();
is($?, 0, 'each program was built from its sources') if $sources;
%ENV = (PATH => $ENV{PATH}, B => $ENV{B} // 'build', PERL_HASH_SEED => 0,
	PYTHONHASHSEED => 0, PYTHONDONTWRITEBYTECODE => 1);

# The others take minutes: CALLGRIND_ALL=1.
my %programs = programs($all);
$programs{python3}[0] = '/usr/bin/python3';
$programs{$_}[0] = $built{$_} for keys(%built);
my @names = $all ? (qw(gzip sqlite3 python3 matmul), @DEBIAN) : qw(sqlite3 matmul);
@names = @ARGV if @ARGV;

# malloc is __libc_malloc, too: which of a function's names is shown is chance.  wmemset
# jumps into memset, and mempcpy into memcpy: callgrind stays with who jumped.
sub plain_name {
	my ($name) = @_;
	return $name =~ s/^_+(?:(?:libc|GI)_+)?//r =~ s/^wmemset_(.*unaligned)(?:_erms)?/memset_$1_erms/r =~ s/^mempcpy_/memcpy_/r;
}

sub canonical {
	my ($path) = @_;
	require Cwd;
	return -e $path ? Cwd::realpath($path) : $path;
}

# {function or ""}{object} and {object}: L1D misses.
sub our_misses {
	my $dir = tempdir(CLEANUP => 1);
	my ($status, $out) = run_tool("$SCRATCH/lib0", 'cachepeek', @ours, "--profile=$dir", @_);
	my (%by, %object);

	system("$BUILD/cachepeek", 'dcache', '-d', $dir, '-o', "$SCRATCH/dcache.json");
	my $profile = decode_json(slurp("$SCRATCH/dcache.json"));
	for my $f (@{$profile->{functions}}) {
		my $n = $f->{counts}{l1d_load_misses} + $f->{counts}{l1d_store_misses};
		my $module = canonical($f->{module});

		$by{plain_name($f->{function}) . " $module"} += $n if $f->{function} ne '';
		$object{$module} += $n;
	}
	return (all_output($out, @_), \%by, \%object);
}

sub their_misses {
	my $file = "$SCRATCH/callgrind.out";
	my ($status, $out) = run_tool("$SCRATCH/lib1", 'callgrind', @theirs,
		"--callgrind-out-file=$file", @_);
	my (%by, %object, @events, $ob, $fn, $skip);

	for my $line (split /\n/, slurp($file)) {
		if ($line =~ /^events: (.*)/) { @events = split ' ', $1 }
		elsif ($line =~ /^ob=(.*)/) { $ob = canonical($1) }
		elsif ($line =~ /^fn=(.*?)(?:'\d+)?$/) { $fn = $1 } # '2: called by itself
		elsif ($line =~ /^calls=/) { $skip = 1 }
		elsif ($line =~ /^\d/) {
			my (undef, @cost) = split ' ', $line;
			if ($skip) { $skip = 0; next }
			my %cost;
			@cost{@events[0 .. $#cost]} = @cost;
			my $n = ($cost{D1mr} // 0) + ($cost{D1mw} // 0);
			$by{plain_name($fn) . " $ob"} += $n;
			$object{$ob} += $n;
		}
	}
	return (all_output($out, @_), \%by, \%object);
}

sub ok_near {
	my ($ours, $theirs, $what, $limit, $least) = @_;
	my $allowed = max($theirs * $limit, $least);

	cmp_ok($ours, '>=', $theirs - $allowed, "$what: $ours, callgrind $theirs");
	cmp_ok($ours, '<=', $theirs + $allowed, "$what: nor more");
}

# Does libdw, and Valgrind, find all of its functions?
sub has_symbols {
	my ($path) = @_;
	my ($id) = `readelf -n $path 2>/dev/null` =~ /Build ID: ([0-9a-f]+)/;
	my $debug = $id ? '/usr/lib/debug/.build-id/' . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug' : '';

	return -e $debug || `readelf -S $path 2>/dev/null` =~ /\.symtab/ ? 1 : 0;
}

# ---- the table of the documents ----

my %rows;

sub row {
	my ($name, $ours, $theirs, $misses, @functions) = @_;
	my ($worst, $where) = (0, '');

	for my $f (@functions) {
		my $apart = (($ours->{$f} // 0) - ($theirs->{$f} // 0)) / ($theirs->{$f} || 1);
		($worst, $where) = ($apart, $f =~ s/<.*>/<>/r =~ s/ \S+$//r) if abs($apart) > abs($worst);
	}
	return sprintf("| %s | %s | %d | %.1f %% | %s |\n", $name, thousands($misses), scalar(@functions),
		100 * sum(0, map { $theirs->{$_} // 0 } @functions) / $misses,
		$where ? sprintf('%+.3f %%, `%s`', 100 * $worst, $where) : 'same');
}

# Functions with names, by misses.  A function that only one of the two has is looked at, too.
sub functions_of {
	my ($ours, $theirs, $symbols) = @_;
	my %all = (%$ours, %$theirs);
	my %misses = map { $_ => $theirs->{$_} // $ours->{$_} } keys(%all);

	return grep { !/^(?:0x|\?\?\?|\(below main\))/ && / (\S+)$/ && $symbols->{$1} }
		sort { $misses{$b} <=> $misses{$a} || $a cmp $b } keys(%misses);
}

for my $name (@names) {
	my @command = @{$programs{$name}};
      SKIP: {
		skip "no $command[0]", 1 unless -x $command[0];
		my ($our_out, $ours, $our_objects) = our_misses(@command);
		my ($their_out, $theirs, $their_objects) = their_misses(@command);
		my %symbols = map { $_ => has_symbols($_) } grep { m{^/} } keys %$their_objects;
		my @named = functions_of($ours, $theirs, \%symbols);

		is($our_out, $their_out, "$name: same output");
		my $misses = sum(values %$their_objects);
		my $others = grep { $_ eq $name } @DEBIAN;
		my $limit = $others ? 0.005 : 0.01;
		@named = grep { ($theirs->{$_} // $ours->{$_}) > 0.01 * $misses } @named if $others;
		@named = @named[0 .. 19] if @named > 20 && !$others;
		cmp_ok(scalar(@named), '>=', 10, "$name: functions with names") unless $others;
		ok((grep { / \Q$command[0]\E$/ } @named), "$name: functions of its own") if $built{$name};
		ok_near($ours->{$_} // 0, $theirs->{$_} // 0, "$name: $_", $limit, $built{$name} ? 5 : 50) for @named;
		$rows{$name} = row($name, $ours, $theirs, $misses, @named);
		for my $object (sort { $their_objects->{$b} <=> $their_objects->{$a} } keys %$their_objects) {
			next if $object !~ m{^/} || $object =~ /vgpreload/;
			ok_near($our_objects->{$object} // 0, $their_objects->{$object}, "$name: $object", $limit, 50);
		}
	}
}

write_table($document, 'callgrind', "| program | D1 misses | functions | have of them | furthest apart |\n" .
	"|---|--:|--:|--:|---|\n", \%rows) if $document;
done_testing;
