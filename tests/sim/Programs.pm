# SPDX-License-Identifier: MIT
#
# The programs that are compared with other simulators: {name} => [command].
package Programs;
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use Sim;

our @EXPORT = qw(programs all_output thousands write_table @DEBIAN);

# Programs that no other test has.
our @DEBIAN = ('sort', 'jq', 'lz4', 'zstd', 'mawk', 'bc', 'xxhsum', 'ffmpeg', 'ruby', 'C++ hash map');

my $text = "$SCRATCH/text";
system("cat $FindBin::Bin/*.c $FindBin::Bin/*.t >$text.1; cat $text.1 $text.1 $text.1 $text.1 $text.1 $text.1 $text.1 $text.1 >$text");

my $sql = 'create table t(a integer primary key, b text); with recursive c(x) as (select 1 ' .
	'union all select x+1 from c where x<3000) insert into t select x, hex(x*2654435761) ' .
	'from c; create index i on t(b); select count(*) from t where b > 5;';
chomp(my $python = `python3 -c 'import sys; print(sys.executable)' 2>/dev/null`);
chomp(my $cc1 = `gcc -print-prog-name=cc1 2>/dev/null`);

sub written {
	my ($name, @text) = @_;

	open(my $to, '>', "$SCRATCH/$name");
	print $to @text;
	close($to);
	return "$SCRATCH/$name";
}

my $source = written('source.c', map { "int f$_(int *a, int n)\n{\n	int s = $_;\n\n	for (int i = 0; i < n; i++)\n" .
	"		s += a[i] > s ? a[i] * $_ : s / (i + $_);\n	return s;\n}\n" } 1 .. 8);

sub usual {
	return (
		# To a file: with -c newer ones confine themselves, and cachegrind, too, which then writes nothing.
		xz => ['/usr/bin/xz', '-1', '-kf', "$text.1"],
		'xz, two threads' => ['/usr/bin/xz', '-0', '-T2', '--block-size=60000', '-kf', "$text.1"],
		python3 => [$python, '-S', '-c', 'd = {i * 7 % 5003: str(i) for i in range(30000)}; print(len(d))'],
		cc1 => [$cc1, '-quiet', '-O1', $source, '-o', '-'],
		gzip => ['/bin/gzip', '-c', $text],
		sqlite3 => ['/usr/bin/sqlite3', ':memory:', $sql],
		perl => ['/usr/bin/perl', '-e', 'my %h; $h{$_ % 4999} += $_ for 1..60000; print scalar keys %h'],
		openssl => ['/usr/bin/openssl', 'sha256', ($text) x 3],
		matmul => ["$BUILD/sim/matmul", 150],
		sort => ['/usr/bin/sort', $text],
		mawk => ['/usr/bin/mawk', '{ n[$1]++; s += length } END { for (w in n) k++; print k, s }', $text],
		'C++ hash map' => ["$BUILD/tests/programs/hash_map"],
	);
}

# Programs that take a minute, or are not on every machine.
sub others {
	my $json = written('data.json', '[', join(',', map { qq({"n":$_,"name":"k) . $_ * 7919 % 1009 . qq("}) } 1 .. 6000), ']');
	my $sieve = 'n = 60000; a = [true] * n; (2..244).each { |i| (i * i).step(n - 1, i) { |j| a[j] = false } if a[i] }; puts a.count(true)';

	return (
		jq => ['/usr/bin/jq', '[.[] | select(.n % 3 == 0)] | group_by(.name) | map(length) | add', $json],
		lz4 => ['/usr/bin/lz4', '-9', '-c', '-q', $text],
		zstd => ['/usr/bin/zstd', '-5', '-c', '-q', '--single-thread', $text],
		bc => ['/usr/bin/bc', '-lq', written('pi.bc', "scale = 400\n4 * a(1)\nquit\n")],
		xxhsum => ['/usr/bin/xxhsum', '-H2', $text, $text, $text],
		ffmpeg => ['/usr/bin/ffmpeg', '-v', 'error', '-nostdin', '-threads', 1, '-filter_threads', 1, '-f', 'lavfi', '-i',
			'testsrc=size=320x240:rate=10:duration=1', '-threads', 1, '-c:v', 'mpeg4', '-f', 'avi', '-bitexact', '-'],
		ruby => ['/usr/bin/ruby', '--disable-gems', '-e', $sieve],
	);
}

sub programs {
	my ($all) = @_;

	return (usual(), $all ? others() : ());
}

# With what xz has written beside its input.
sub all_output {
	my ($out, @command) = @_;
	my $compressed = "$command[-1].xz";

	$out .= slurp($compressed);
	unlink $compressed;
	return $out;
}

# ---- the tables of doc/validation.md ----

sub thousands { return scalar reverse(reverse(int $_[0]) =~ s/(\d{3})(?=\d)/$1,/gr) }

# Lines of a table, {program} => line, between the document's two comments of that name.
sub write_table {
	my ($document, $name, $head, $rows) = @_;
	my $page = slurp($document);
	my $table = $head . join('', map { $rows->{$_} // () } @DEBIAN);

	$page =~ s/(<!-- $name -->\n).*?(<!-- end of $name -->)/$1$table$2/s or die "$document has no place for the table\n";
	open(my $to, '>', $document) or die "$document: $!\n";
	print $to $page;
	close($to) or die "$document: $!\n";
}

1;
