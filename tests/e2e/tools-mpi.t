#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A tool between the program and its MPI that has every function of mpi.h: each is called
# as without us, in the same order, with the same arguments, and so is what is behind it,
# by the names of PMPI.  The functions are those of the headers of Open MPI and MPICH; a
# library made from the same headers stands for MPI.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mpi;
use Peek;
use Standin;
use Test::More;

# Functions with another form than the rest: with any arguments, or not giving an int.
my $by_hand = qr/^MPI_(?:Pcontrol|Wtime|Wtick|Aint_add|Aint_diff|DUP_FN|\w*_[cf]2[cf]\w*|T_\w+|NULL_\w+|Status_\w*f08\w*|Type_create_f90_\w+)$/;

# The functions of a header: [name, [parameters]].
sub functions_of
{
	my ($cc) = @_;
	my $source = write_file(scratch('header.c'), "#include <mpi.h>\n");
	my $text = run(command => [$cc, '-E', '-P', $source])->{out} =~ s/\s+/ /gr;
	my (%seen, @functions);
	while ($text =~ /\bint (MPI_\w+) ?\(([^()]*(?:\([^()]*\)[^()]*)*)\)(?: __attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\))* ?;/g) {
		my ($name, $parameters) = ($1, $2);
		next if $name =~ $by_hand || $seen{$name}++ || $text !~ /\bint P$name ?\(/;
		my @parameters = $parameters =~ /^ ?void ?$/ ? () : map { s/^ | $//gr } split(/,/, $parameters);
		push(@functions, [$name, \@parameters]);
	}
	return @functions;
}

# A parameter as [its text with the name a1, a2 …, a value for it].
sub parameter
{
	my ($text, $n, $value) = @_;
	my ($type, $arrays) = $text =~ /^(.*?[ *])\w+((?:\[\d*\])*)$/ or return undef;
	return ["$type a$n$arrays", "(void *)${value}ul"] if "$type$arrays" =~ /[*\[]/;
	return ["$type a$n", "VALUE($type, ${value}ul)"];
}

my $common = <<'C';
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#define VALUE(type, value) ({ union { __typeof__((type)0) t; unsigned long long n; } u = {.n = value}; u.t; })
#define BITS(value) ({ union { __typeof__(value) t; unsigned long long n; } u = {.n = 0}; u.t = (value); u.n; })
static FILE *file;
static void print(const char *format, ...)
{
	va_list args;
	if (!file && (file = fopen(getenv("TOOL_LOG"), "a")))
		setvbuf(file, NULL, _IOLBF, 0);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
}
static void print_level(const char *who, int level, va_list args)
{
	print("%s level %d", who, level);
	if (level < 10) {
		print(" %s", va_arg(args, const char *));
		print(" %g", va_arg(args, double));
		for (int i = 0; i < 8; i++)
			print(" %d", va_arg(args, int));
		print(" %g\n", va_arg(args, double));
	} else
		print("\n");
}
C

# The library that stands for MPI, the tool, and the program.
sub sources
{
	my (@functions) = @_;
	my ($mpi, $tool, $body) = ($common, $common, '');
	my $n = 4700;
	for my $function (@functions) {
		my ($name, $parameters) = @$function;
		my $i = 0;
		my @all = map { parameter($_, ++$i, ++$n) } @$parameters;
		my $head = join(', ', map { $_->[0] } @all) || 'void';
		my $arguments = join(', ', map { "a$_" } 1 .. @all);
		my $format = '%llx ' x @all;
		my $bits = join('', map { ", BITS(a$_)" } 1 .. @all);
		my $result = 100 + $n % 97;
		$mpi .= "int P$name($head)\n{\n\tprint(\"P$name $format\\n\"$bits);\n\treturn $result;\n}\n" .
			"extern __typeof__(P$name) $name __attribute__((weak, alias(\"P$name\")));\n";
		$tool .= "int $name($head)\n{\n\tprint(\"$name $format\\n\"$bits);\n\treturn P$name($arguments) + 1000;\n}\n";
		$body .= "\tprintf(\"$name %d\\n\", $name(" . join(', ', map { $_->[1] } @all) . "));\n"
			unless $name =~ /^MPI_(?:Finalize|Abort)$/;
	}
	# Functions of Fortran that we have, and those that take any arguments.
	my @fortran = qw(mpi_finalize_ mpi_abort_ mpi_pcontrol_);
	for my $name (@fortran) {
		$mpi .= "void p$name(int *a, int *b, int *c) { print(\"p$name %d\\n\", *a); }\n" .
			"extern __typeof__(p$name) $name __attribute__((weak, alias(\"p$name\")));\n";
		$tool .= "void p$name(int *, int *, int *);\nvoid $name(int *a, int *b, int *c) { print(\"$name %d\\n\", *a); p$name(a, b, c); }\n";
	}
	$mpi .= <<'C';
int PMPI_Pcontrol(const int level, ...)
{
	va_list args;
	va_start(args, level);
	print_level("P", level, args);
	va_end(args);
	return 17;
}
extern __typeof__(PMPI_Pcontrol) MPI_Pcontrol __attribute__((weak, alias("PMPI_Pcontrol")));
C
	$tool .= <<'C';
int MPI_Pcontrol(const int level, ...)
{
	va_list args;
	va_start(args, level);
	print_level("tool", level, args);
	va_end(args);
	return PMPI_Pcontrol(level + 10) + 1000;
}
C
	my $declared = join('', map { "void $_(int *, int *, int *);\n" } @fortran);
	my $program = "$common\n${declared}int main(void)\n{\n\tint code = 3;\n$body" . <<'C';
	/* The first one finds the function, others pause, resume and flush. */
	for (int level = 7; level >= 0; level--)
		printf("%d\n", MPI_Pcontrol(level, "text", 1.5, 1, 2, 3, 4, 5, 6, 7, 8, 2.5));
	printf("%d\n", MPI_Pcontrol(1, "text", 1.5, 1, 2, 3, 4, 5, 6, 7, 8, 2.5));
	for (int level = 0; level < 3; level++)
		mpi_pcontrol_(&level, NULL, NULL);
	code = 0;
	mpi_abort_(&code, &code, &code);
	printf("%d\n", MPI_Abort(VALUE(MPI_Comm, 5), 0));
	mpi_finalize_(&code, NULL, NULL);
	printf("%d\n", MPI_Finalize());
	return 0;
}
C
	return ($mpi, $tool, $program);
}

# A function of ours that this header has not is not of this MPI.
sub ours
{
	my $lists = read_file(source() . '/preload/parallel/mpi_calls.h');
	my ($with_counts, $others) = $lists =~ /WITH_COUNTS\(X\)(.*?)#define(.*)/s;
	return map { "MPI_$_" } map({ ($_, "${_}_c") } $with_counts =~ /X\((\w+)\)/g), $others =~ /\bX\((\w+)\)/g;
}

my %implementations = implementations();
for my $which (sort keys %implementations) {
	SKIP: {
		my $cc = $implementations{$which}{cc};
		skip("no $which here", 1) unless which($cc);
		my @functions = functions_of($cc);
		my %there = map { $_->[0] => 1 } @functions;
		cmp_ok(scalar(@functions), '>', 300, "$which: its header has functions");
		is(scalar(grep { my $f = $_; grep { !defined parameter($_, 1, 1) } @{$f->[1]} } @functions), 0, "$which: all of them are understood");
		my @hooked = grep { $there{$_} } ours();
		cmp_ok(scalar(@hooked), '>', 150, "$which: we have many of them");

		my ($mpi, $tool, $program) = sources(@functions);
		my @flags = ('-w', '-O1', '-fno-builtin', map { "-I$_" } run(command => [$cc, '-show', '-c', 'x.c'])->{out} =~ /-I(\S+)/g);
		my $library = compiled("lib$which.so", $mpi, 'gcc', @flags, '-shared', '-fPIC', 'SOURCE');
		my $between = compiled("lib$which-tool.so", $tool, 'gcc', @flags, '-shared', '-fPIC', 'SOURCE', $library, '-Wl,-rpath,' . scratch());
		my $exe = compiled($which, $program, 'gcc', @flags, 'SOURCE', $library, '-Wl,-rpath,' . scratch());
		my $linked = compiled("$which-linked", $program, 'gcc', @flags, 'SOURCE', '-Wl,--no-as-needed', $between, $library, '-Wl,-rpath,' . scratch());

		my $lib = lib();
		my %env = (CACHEPEEK_MPI_REGIONS => 1);
		my %how = (notes => qr/MPI_Abort|^cachepeek: .*report/);
		my ($log, @with) = ok_same_calls("$which, behind us", [$exe], {%env}, {%how, preload => [$between, "$lib:$between"]}, [@PERF], [@SIM]);
		is(scalar(() = $log =~ /^(?:MPI|PMPI)_/mg), 2 * @functions, "$which: the tool and MPI are told of all calls");
		for my $with (@with) {
			my %regions = map { $_->{path}[-1] => $_->{calls} } grep { @{$_->{path}} } @{$with->{report}{regions}};
			is(join(' ', grep { ($regions{$_} // 0) != 1 } @hooked), '', "$which: and each that we have is a region, once");
		}
		ok_same_calls("$which, before us", [$exe], {%env}, {%how, preload => [$between, "$between:$lib"]}, [@PERF], [@SIM]);
		ok_same_calls("$which, linked", [$linked], {%env}, {%how}, [@PERF], [@SIM]);
		ok_same_calls("$which, no tool", [$exe], {%env}, {%how}, [@PERF], [@SIM]);
	}
}
done_testing();
