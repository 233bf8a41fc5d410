#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# L1D misses by function, on the same geometry, as callgrind has them: the twenty
# functions of each program that miss most, and each object as a whole.  Of stripped
# objects only the whole: callgrind gives what functions without a name have to the
# one that jumped there.
use strict;
use warnings;
no warnings 'qw';
use File::Temp 'tempdir';
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use Sim;
use Test::More;

my @ours = qw(--l1i=64,8,64 --l1d=64,8,64 --l2=0,0,0 --llc=8192,16,64);
my @theirs = qw(--cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64
	--compress-strings=no --compress-pos=no);

my ($lib) = grep { -d } qw(/usr/libexec/valgrind /usr/lib/valgrind);
plan skip_all => 'no callgrind here' unless $lib && glob "$lib/callgrind-*-linux";
symlink "$BUILD/cachepeek", "$SCRATCH/lib0";
symlink $lib, "$SCRATCH/lib1";

%ENV = (PATH => $ENV{PATH}, CALLGRIND_ALL => $ENV{CALLGRIND_ALL} // 0, B => $ENV{B} // 'build', PYTHONHASHSEED => 0);

my $text = "$SCRATCH/text";
system("cat $FindBin::Bin/*.c $FindBin::Bin/*.t > $text");
my $sql = 'create table t(a integer primary key, b text); with recursive c(x) as (select 1 ' .
	'union all select x+1 from c where x<3000) insert into t select x, hex(x*2654435761) ' .
	'from c; create index i on t(b); select count(*) from t where b > 5;';
my %programs = (
	gzip => ['/bin/gzip', '-c', $text],
	sqlite3 => ['/usr/bin/sqlite3', ':memory:', $sql],
	python3 => ['/usr/bin/python3', '-S', '-c', 'd = {}
for i in range(20000):
    d[i * 7919 % 10007] = str(i)
print(len(d), sum(len(x) for x in d.values()))'],
	matmul => ["$BUILD/sim/matmul", 120],
);

# malloc is __libc_malloc, too: which of a function's names is shown is chance.
sub plain_name {
	my ($name) = @_;
	return $name =~ s/^_+(?:(?:libc|GI)_+)?//r;
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

	system("$BUILD/cachepeek-bin", 'dcache', '-d', $dir, '-o', "$SCRATCH/dcache.json");
	my $profile = decode_json(slurp("$SCRATCH/dcache.json"));
	for my $f (@{$profile->{functions}}) {
		my $n = $f->{counts}{l1d_load_misses} + $f->{counts}{l1d_store_misses};
		my $module = canonical($f->{module});

		$by{plain_name($f->{function}) . " $module"} += $n if $f->{function} ne '';
		$object{$module} += $n;
	}
	return ($out, \%by, \%object);
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
	return ($out, \%by, \%object);
}

sub ok_near {
	my ($ours, $theirs, $what, $share) = @_;
	my $allowed = $theirs * 0.01 > 100 ? $theirs * 0.01 : 100;

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

# The others take half a minute: CALLGRIND_ALL=1.
delete @programs{qw(gzip python3)} unless $ENV{CALLGRIND_ALL};
for my $name (sort keys %programs) {
	my @command = @{$programs{$name}};
      SKIP: {
		skip "no $command[0]", 1 unless -x $command[0];
		my ($our_out, $ours, $our_objects) = our_misses(@command);
		my ($their_out, $theirs, $their_objects) = their_misses(@command);
		my @top = sort { $theirs->{$b} <=> $theirs->{$a} || $a cmp $b } keys %$theirs;
		my %symbols = map { $_ => has_symbols($_) } grep { m{^/} } keys %$their_objects;
		my @named = grep { !/^(?:0x|\?\?\?|\(below main\))/ && / (\S+)$/ && $symbols{$1} } @top;

		is($our_out, $their_out, "$name: same output");
		@named = @named[0 .. 19] if @named > 20;
		cmp_ok(scalar(@named), '>=', 10, "$name: functions with names");
		ok_near($ours->{$_} // 0, $theirs->{$_}, "$name: $_") for @named;
		for my $object (sort { $their_objects->{$b} <=> $their_objects->{$a} } keys %$their_objects) {
			next if $object !~ m{^/} || $object =~ /vgpreload/;
			ok_near($our_objects->{$object} // 0, $their_objects->{$object}, "$name: $object");
		}
	}
}

done_testing;
