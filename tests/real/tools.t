#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Tools that are run from a shell: media, archives, compilers under make.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use lib $FindBin::Bin;
use Real;
use Test::More;

# A project of eight files, a library and a generated header.
sub write_project
{
	my ($at) = @_;
	for my $n (1 .. 6) {
		$at->file("project/part$n.c", "#include <stdio.h>\n#include \"made.h\"\n" .
			"int part$n(int x) { for (int i = 0; i < MADE; i++) x = x * 31 + i % $n; return x; }\n");
	}
	$at->file('project/main.c', join('', "#include <stdio.h>\n", (map { "int part$_(int);\n" } 1 .. 6),
		"int main(void) { printf(\"%d\\n\", ", join(' ^ ', map { "part$_($_)" } 1 .. 6), "); return 5; }\n"));
	$at->file('project/Makefile', <<'END');
CC = gcc
OBJECTS = main.o $(patsubst %,part%.o,1 2 3 4 5 6)
all: program
	./program; echo "status $$?"
	$(MAKE) -s again
again:
	@echo again $(MAKELEVEL)
made.h:
	@echo "#define MADE $$((40 + 2))" > $@
$(OBJECTS): made.h
program: $(OBJECTS)
	$(CC) -o $@ $^
fails:
	exit 3
END
}

software('make', needs => ['make', 'gcc'],
	prepare => \&write_project,
	use => sub {
		my ($at) = @_;
		my @make = ('make', '-C', $at->work('project'), '--no-print-directory');
		$at->under(@make, '-j3', '-O', 'made.h', 'part1.o', 'part2.o', 'part3.o', {quiet => 1});
		$at->under(@make, '-j3', '-s');
		$at->under(@make, 'fails');
	},
	counted => {cc1 => 7, make => 3});

software('archives', needs => ['tar', 'zstd', 'xz', 'gzip', 'bzip2'],
	prepare => sub {
		my ($at) = @_;
		$at->file("tree/$_/file$_", join('', map { "line $_ of many\n" x 20 } 1 .. 100)) for 1 .. 10;
	},
	use => sub {
		my ($at) = @_;
		my $tar = "tar --sort=name --mtime=\@0 --owner=0 --group=0 --numeric-owner -C ${\$at->work}";
		$at->under('sh', '-c', "$tar -c tree | zstd -T2 -q -c | tee ${\$at->work('a.zst')} | zstd -dc | sha256sum");
		$at->under('sh', '-c', "$tar -c tree | xz -T2 -0 -c | xz -dc | sha256sum");
		$at->under('sh', '-c', "$tar --zstd -cf ${\$at->work('b.zst')} tree && tar --zstd -tf ${\$at->work('b.zst')}");
		$at->under('tar', '-C', $at->work, '-I', 'gzip -1', '-cf', $at->work('c.gz'), 'tree', 'absent');
		$at->under('sh', '-c', "yes | zstd -q -c | head -c 100 > /dev/null; echo done");
	},
	# Both write to a pipe without a reader, as alone.
	ends => {'yes signal 13' => 1, 'zstd signal 13' => 1},
	filter => [[qr/zstd: .*/, 'zstd: ...', 'whether it has to write once more is a matter of time']],
	counted => {tar => 5, zstd => 4});

my @source = ('-f', 'lavfi', '-i', 'testsrc=duration=1:size=64x48:rate=8', '-f', 'lavfi', '-i', 'sine=duration=0.3');
my @quiet = ('-nostdin', '-hide_banner', '-loglevel', 'error');
software('ffmpeg', needs => ['ffmpeg', 'ffprobe'],
	use => sub {
		my ($at) = @_;
		$at->under('ffmpeg', @quiet, '-threads', 2, @source, '-flags', '+bitexact', '-c:v', 'mpeg4', '-c:a', 'aac',
			'-bitexact', $at->work('a.mkv'));
		$at->under('ffprobe', '-v', 'error', '-show_entries', 'stream=codec_name,width,nb_read_frames', '-count_frames',
			$at->work('a.mkv'));
		$at->under('ffmpeg', @quiet, '-i', $at->work('a.mkv'), '-vf', 'scale=32:24', '-f', 'framemd5', '-');
		$at->under('ffmpeg', @quiet, '-i', $at->work('absent'), '-f', 'null', '-');
	},
	filter => [[qr/ @ 0x[0-9a-f]+\]/, ' @ 0x...]', 'newer versions name what complains by its address']],
	counted => {ffmpeg => 3, ffprobe => 1});

my ($convert) = map { abs_path($_) } grep { -x } '/usr/bin/convert-im6.q16', '/usr/bin/magick', '/usr/bin/magick-im7.q16',
	'/usr/bin/convert-im6.q16hdri';
software('imagemagick', needs => [$convert // '/usr/bin/convert-im6.q16'],
	env => {MAGICK_THREAD_LIMIT => 2},
	use => sub {
		my ($at) = @_;
		$at->under($convert, '-size', '64x64', 'gradient:red-blue', '-swirl', 90, '-blur', '0x2', '-depth', 8, $at->work('a.png'));
		$at->under($convert, $at->work('a.png'), '-resize', '50%', '-depth', 8, '-format', '%w %h %#\n', 'info:');
		$at->under($convert, $at->work('absent.png'), $at->work('b.png'));
	},
	counted => {$convert ? (($convert =~ s{.*/}{}r) => 3) : ()});
done_testing();
