#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# The tarball of a release: all that git has, the same bytes each time, also when it is made of
# an unpacked one; and the recipes that are made with it, read by their own tools.  (That the
# tarball builds is what `make deb` shows, which begins with it.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;
use Npm;
use Peek;
use Test::More;

my ($version) = read_file(source() . '/Makefile') =~ /^VERSION := (.*)$/m;
my $name = "cachepeek-$version";

# make dist of a tree into a directory of its own.
sub dist
{
	my ($tree, $to, @more) = @_;
	my $run = run(command => ['make', '-s', '-C', $tree, "B=$to", @more, 'dist'],
		env => {SOURCE_DATE_EPOCH => 1700000000});
	is(status_text($run->{status}), 'exit 0', "make dist into $to") or diag($run->{err});
	return read_file("$to/$name.tar.gz") // '';
}

my ($one, $two) = map { scratch($_) } qw(one two);
my $bytes = dist(source(), $one, 'RELEASES=file://' . scratch('one'));
ok($bytes eq dist(source(), $two), 'the same bytes again');
my %in = map { s{/$}{}r => 1 } split(/\n/, run(command => ['tar', '-tzf', "$one/$name.tar.gz"])->{out});
SKIP: {
	my $git = which('git') or skip('no git', 1);
	my $run = run(command => [$git, '-C', source(), 'ls-files']);
	skip('not of a repository', 1) if $run->{status};
	is_deeply([sort keys %in], [sort map { "$name/$_" } split(/\n/, $run->{out})], 'it has what git has');
}

# ---- unpacked, without git ----

mkdir(scratch('unpacked'));
run(command => ['tar', '-xzf', "$one/$name.tar.gz", '-C', scratch('unpacked')]);
my $tree = scratch("unpacked/$name");
utime(1, 1, "$tree/README.md"); # whenever it was changed there
my $again = run(command => ['make', '-s', '-C', $tree, "B=build", 'dist'],
	env => {SOURCE_DATE_EPOCH => 1700000000, GIT_CEILING_DIRECTORIES => scratch()});
is(status_text($again->{status}), 'exit 0', 'make dist there') or diag($again->{err});
ok((read_file("$tree/build/$name.tar.gz") // '') eq $bytes, 'the same bytes');
my $object = run(command => ['make', '-s', '-C', $tree, 'B=build', 'build/base/arena.o', 'build/embedded.S']);
is(status_text($object->{status}), 'exit 0', 'and what is compiled is there') or diag($object->{err});

# ---- where libraries have no archives, as on many systems ----

my $cc = (split(' ', $ENV{CC} || 'gcc'))[0];
my $compiler = write_file(scratch('cc'), <<"END");
#!/bin/sh
case \$1 in
-print-file-name=lib*.a) echo "\${1#*=}" ;;
*) exec $cc "\$@" ;;
esac
END
chmod(0755, $compiler);
my $planned = run(command => ['make', '-n', 'V=1', '-C', $tree, 'B=elsewhere', "CC=$compiler", 'all']);
is(status_text($planned->{status}), 'exit 0', 'make has a plan') or diag($planned->{err});
like($planned->{out}, qr{ -o elsewhere/cachepeek .* -ljansson }, 'the command is linked with the shared libjansson');
unlike($planned->{out}, qr/-l:lib\w+\.a|patcher\.so/, 'and nothing asks for an archive');

# A decoder beside the compiler's own directories, as in a prefix of Spack, conda or Nix.
my $narrow = write_file(scratch('narrow'), <<"END");
#!/bin/sh
case " \$* " in
*' -include Zydis/Zydis.h '*) case " \$* " in *' -I/elsewhere/include '*) exit 0 ;; *) exit 1 ;; esac ;;
esac
exec $cc "\$@"
END
chmod(0755, $narrow);
my @plan = ('make', '-n', 'V=1', '-C', $tree, 'B=decoder', "CC=$narrow", 'sim');
unlike(run(command => \@plan)->{out}, qr/native_table/, 'without a decoder there is no table of encodings');
SKIP: {
	skip('no table of other architectures', 1) unless `uname -m` =~ /^x86_64/;
	like(run(command => [@plan, 'CFLAGS=-O2 -I/elsewhere/include', 'LDFLAGS=-L/elsewhere/lib -Wl,-rpath,/elsewhere/lib'])->{out},
		qr{ -I/elsewhere/include -o decoder/sim/make_native_table .* -L/elsewhere/lib -Wl,-rpath,/elsewhere/lib -lZydis$}m,
		'one in a prefix of its own is found there');
}

# ---- what a release must say ----

for my $case (['CHANGELOG.md', qr/^## \[\Q$version\E\]/m, 'a section'], ['debian/changelog', qr/\A.*\(\Q$version\E\)/, 'an entry']) {
	my ($file, $entry, $what) = @$case;
	my $text = read_file("$tree/$file");
	like($text, $entry, "$file has $what of this version");
	my $run = run(command => ['make', '-s', '-C', $tree, 'B=build', 'VERSION=9.9.9', 'dist-check']);
	write_file("$tree/$file", $text =~ s/\Q$version\E/9.9.9/r);
	isnt(status_text($run->{status}), 'exit 0', "$file: make dist of another is refused");
	like($run->{err}, qr/^dist: \Q$file\E .*9\.9\.9/m, 'and it says what is missing');
}

# ---- the version stands in one place ----

my @elsewhere = grep { !m{^$name/(?:Makefile|CHANGELOG\.md|debian/changelog|tests/fuzz/seeds/)} } keys %in;
my @said = grep { (read_file(scratch("unpacked/$_")) // '') =~ /^(?!.*\bcachepeek \Q$version\E(?::| list| annotate)).*(?<![\d.])\Q$version\E(?![\d.])/m }
	grep { -f scratch("unpacked/$_") && !-B _ } @elsewhere;
is_deeply([sort @said], [], 'no other file names it, but outputs of commands in documents');

# ---- recipes ----

# packaging/dependencies: Debian's name => each recipe's.
my @columns = qw(debian arch conda nix spack);
my %row = map { my %of; @of{@columns} = split(' '); ($of{debian} => \%of) } grep { /^[^#]/ }
	split(/\n/, read_file(source() . '/packaging/dependencies') // '');

my $recipes = "$one/packaging";
my ($sum) = run(command => ['sha256sum', "$one/$name.tar.gz"])->{out} =~ /^(\w+)/;
sub recipe { return read_file("$recipes/$_[0]") // '' }
for my $file (qw(Dockerfile spack/package.py conda/meta.yaml conda/build.sh arch/PKGBUILD nix/default.nix)) {
	unlike(recipe($file), qr/@[A-Z0-9_]+@/, "$file: nothing is left to fill in");
	like(recipe($file), qr/\Q$sum\E/, "$file: the checksum of the tarball") if $file !~ /Dockerfile|build\.sh/;
}
my $python = which('python3');
my $run = run(command => [$python, '-c', <<'PY', "$recipes/spack/package.py"]);
import ast, json, re, sys
tree = ast.parse(open(sys.argv[1]).read())
recipe, = [node for node in tree.body if isinstance(node, ast.ClassDef)]
calls = [node.value for node in recipe.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
print(json.dumps({"class": recipe.name, "version": [[a.value for a in c.args] for c in calls if c.func.id == "version"],
                  "needs": [re.sub("[@:].*", "", c.args[0].value) for c in calls if c.func.id == "depends_on"],
                  "methods": [f.name for f in recipe.body if isinstance(f, ast.FunctionDef)]}))
PY
my $spack = decode_json($run->{out} || '{}');
my %needs = (spack => delete($spack->{needs}));
is_deeply($spack, {class => 'Cachepeek', version => [[$version]], methods => [qw(settings build install)]},
	'Spack: a class with the version') or diag($run->{err});
SKIP: {
	skip('no python3-yaml', 1) if run(command => [$python, '-c', 'import yaml'])->{status};
	$run = run(command => [$python, '-c', 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))',
		"$recipes/conda/meta.yaml"]);
	my $meta = decode_json($run->{out} || '{}');
	is("$meta->{package}{version} $meta->{source}[0]{sha256}", "$version $sum", 'conda: version and checksum') or diag($run->{err});
	$needs{conda} = [map { s/ >=.*//r =~ s/\{\{ (.*) \}\}/$1/r } map { @{$meta->{requirements}{$_}} } qw(build host)];
}
is(run(command => ['bash', '-n', "$recipes/conda/build.sh"])->{err}, '', 'conda: bash reads the script');
SKIP: {
	my $nix = which('nix-instantiate') or skip('no nix-instantiate (nix-bin)', 1);
	$run = run(command => [$nix, '--parse', "$recipes/nix/default.nix"], env => {HOME => scratch(), NIX_STATE_DIR => scratch('nix')});
	is(status_text($run->{status}), 'exit 0', 'Nix parses its expression') or diag($run->{err});
	my %called = map { ($_->{nix} => 1) } values %row;
	my $packages = join(' ', map { qq($_ = "$_";) } sort grep { /^\w+$/ } keys %called);
	$run = run(command => [$nix, '--eval', '--strict', '--json', '-E', "import $recipes/nix/default.nix { pkgs = { $packages
		stdenv.mkDerivation = made: (made.nativeBuildInputs or []) ++ made.buildInputs; }; }"],
		env => {HOME => scratch(), map { ("NIX_$_" => scratch('nix')) } qw(STATE_DIR STORE_DIR LOG_DIR CONF_DIR)});
	$needs{nix} = eval { decode_json($run->{out}) } || [];
}
# makepkg fetches the sources and compares their checksums; it refuses to be root's.
SKIP: {
	my $makepkg = which('makepkg') or skip('no makepkg', 2);
	my @nobody = root() ? as_user() : ();
	my $arch = "$recipes/arch";
	chmod(0777, $arch);
	my %env = (PACMAN => 'true', HOME => $arch);
	$run = run(command => [@nobody, $makepkg, '--printsrcinfo'], cwd => $arch, env => \%env);
	like($run->{out}, qr/^\tpkgver = \Q$version\E$/m, 'Arch: makepkg reads it') or diag($run->{err});
	$needs{arch} = [$run->{out} =~ /^\t(?:make)?depends = (\S+)$/mg];
	$run = run(command => [@nobody, $makepkg, '--verifysource', '--nodeps'], cwd => $arch, env => \%env);
	is(status_text($run->{status}), 'exit 0', 'and finds the sources, with their checksums') or diag($run->{err});
}

# Each recipe names what tools/deps.sh installs to build with, and nothing else.
my @build = split(' ', run(command => ['sh', source() . '/tools/deps.sh', '--list', 'build'])->{out});
is_deeply([sort keys %row], [sort @build], 'packaging/dependencies has a line for each package of the group build');
my %file = (arch => 'arch/PKGBUILD', conda => 'conda/meta.yaml', nix => 'nix/default.nix', spack => 'spack/package.py');
for my $system (@columns[1 .. 4]) {
	SKIP: {
		skip("$system: nothing here reads it", 1) unless $needs{$system};
		my %wanted = map { ($_->{$system} => 1) } grep { $_->{$system} ne '-' } values %row;
		$wanted{$_} = 0 for grep { recipe($file{$system}) =~ /\b\Q$_\E\b/ } grep { /\.js$/ } keys %wanted;
		is_deeply([sort @{$needs{$system}}], [sort grep { $wanted{$_} } keys %wanted], "$system: it names what the build needs");
	}
}

# ---- the image ----

my $docker = recipe('Dockerfile');
my @stages = split(/^(?=FROM )/m, $docker);
my ($copied) = $docker =~ /^COPY (\S+)/m;
is($copied, "$name.tar.gz", 'Dockerfile: made of the tarball');
is_deeply([grep { /^[^#]/ } split(/\n/, recipe('Dockerfile.dockerignore'))], ['*', '!cachepeek-*.tar.gz'],
	'and nothing else of build/ is sent');
like($stages[-1], qr/^USER (?!root)\w+$/m, 'Dockerfile: nobody special runs it');
unlike($stages[-1], qr/deps\.sh|gcc/, 'and its image has no compilers');
my %needed = map { $_ => 1 } map { run(command => ['readelf', '-d', $_])->{out} =~ /\(NEEDED\).*\[(\S+)\]/g } cli(), lib();
my ($asked) = $docker =~ /(deps\.sh --libraries .*?) > /;
is($asked, 'deps.sh --libraries build/cachepeek build/libcachepeek.so', 'it asks for the libraries of what it has');
like($stages[-1], qr/--no-install-recommends \$\(cat /, 'and installs those');
my @packages = split(' ', run(command => ['sh', source() . '/tools/deps.sh', '--libraries', cli(), lib()])->{out});
my %given = map { $_ => 1 } map { run(command => ['dpkg-query', '-L', $_])->{out} =~ m{/([^/\n]+\.so[.\d]*)$}mg } @packages;
is_deeply([grep { !/^(?:libc|libm|ld-linux.*)\.so/ && !$given{$_} } sort keys %needed], [], 'it has the libraries that are needed');
SKIP: {
	my ($parser, $why) = npm_package('dockerfile-utils', '0.16.3');
	skip($why, 1) unless $parser && which('node');
	$run = run(command => ['node', '-e', <<'JS', $parser, "$recipes/Dockerfile"]);
const { validate } = require(process.argv[1]);
const text = require("fs").readFileSync(process.argv[2], "utf8");
for (const problem of validate(text)) console.log(problem.range.start.line + 1, problem.message);
JS
	is($run->{out} . $run->{err}, '', 'and a checker of Dockerfiles has nothing to say');
}
done_testing();
