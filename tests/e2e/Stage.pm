# SPDX-License-Identifier: MIT
# `make install` into a folder of its own, and the environment in which what it
# installed is found, as if it were in /usr/local.
package Stage;
use strict;
use warnings;
use Exporter qw(import);
use Peek;
use Test::More;

our @EXPORT = qw(stage stage_make stage_env);

my $stage = scratch('stage');
# By the name that everybody else calls it: what it has to compile would stand under
# another one in the lists of what depends on what, and never be compiled again.
my $build = $ENV{B} || 'build';

sub stage_make
{
	my (@targets) = @_;
	return run(command => ['make', '-s', '-C', source(), "B=$build", "DESTDIR=$stage",
		'PREFIX=/usr/local', 'LIBDIR=/usr/local/lib', @targets]);
}

sub stage
{
	my $install = stage_make('install');
	is(status_text($install->{status}), 'exit 0', 'make install')
		|| BAIL_OUT($install->{err});
	return $stage;
}

sub stage_env
{
	my $prefix = "$stage/usr/local";
	return (PATH => "$prefix/bin:$ENV{PATH}", LD_LIBRARY_PATH => "$prefix/lib",
		MANPATH => "$prefix/share/man", PKG_CONFIG_PATH => "$prefix/lib/pkgconfig",
		PKG_CONFIG_SYSROOT_DIR => $stage, DESTDIR => "$stage-again");
}

1;
