#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Functions that begin in every way, patched: each program of a hundred does what it does
# unpatched, and each function that is a region has all its calls.  FUNCTION_SEEDS
# programs; before a release ten.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Test::More;

plan(skip_all => 'functions are patched on x86-64 only') unless `uname -m` =~ /x86_64/;
need_perf();

my $ROUNDS = 20;
my @plain = ("push %rbx\n pop %rbx", 'mov %rdi,%rax', 'lea 3(%rdi,%rsi),%rax', 'add data(%rip),%rdi', 'incl data+8(%rip)',
	'movl $7,data+16(%rip)', 'xor %esi,%edi', 'nop', 'nopl 0(%rax,%rax,1)', 'movdqa %xmm0,%xmm1', 'cmpq $5,data+24(%rip)',
	"lea data+32(%rip),%rcx\n addq \$1,(%rcx)", 'imul $3,%rdi,%rdi', 'test %edi,%edi', 'mov %rsi,-8(%rsp)', 'rol $3,%rdi');

sub some { return map { $plain[rand(@plain)] } 1 .. rand(6) }

# Functions that are short, jump back to its beginning or into the bytes of a patch, branch, call,
# jumps away, or loops in a way that has no longer form.
my @shapes = (
	sub { ('mov %edi,%eax', 'ret') },
	sub { ('9: dec %edi', 'jg 9b', 'lea 1(%rsi),%rax', 'ret') },
	sub { ('inc %edi', '2: add $3,%rsi', 'test $64,%sil', 'jz 2b', 'lea (%rsi,%rdi),%rax', 'ret') },
	sub { ('inc %edi', '2: add $3,%rsi', 'jmp 5f', '.skip 300,0xcc', '5: test $64,%sil', 'jz 2b', 'lea (%rsi,%rdi),%rax', 'ret') },
	sub { ('test $1,%dil', (qw(jz jnz js jle jb jo))[rand(6)] . ' 1f', some(), 'mov %rdi,%rax', 'ret', '1: lea 9(%rsi),%rax', 'ret') },
	sub { ('sub $8,%rsp', 'call *pointer(%rip)', 'add $8,%rsp', 'add %rdi,%rax', 'ret') },
	sub { ('jmp helper') },
	sub { ('push %rbx', 'mov %rdi,%rbx', 'call helper', 'add %rbx,%rax', 'pop %rbx', 'ret') },
	sub { ('mov %edi,%ecx', 'and $3,%ecx', 'inc %ecx', 'xor %eax,%eax', '3: add %rsi,%rax', 'loop 3b', 'ret') },
	sub { ('mov %esi,%ecx', 'jrcxz 4f', 'add %rcx,%rdi', 'imul $3,%rdi,%rdi', 'rol $3,%rdi', '4: mov %rdi,%rax', 'ret') },
	(sub { (some(), 'mov %rdi,%rax', 'add %rsi,%rax', 'ret') }) x 3,
);

sub functions
{
	my @lines = ('.text', '.globl data', '.bss', 'data: .skip 64', '.text');
	for my $i (0 .. 99) {
		push(@lines, '.p2align ' . (0, 0, 2, 4)[rand(4)], ".globl s_$i", ".type s_$i,\@function", "s_$i:",
			rand() < 0.3 ? 'endbr64' : (), $shapes[rand(@shapes)]->(), ".size s_$i,.-s_$i");
	}
	return join("\n", @lines, 'helper: lea 5(%rdi,%rsi),%rax', 'ret', '.data', 'pointer: .quad helper',
		'.section .note.GNU-stack,"",@progbits', '');
}

my $main = write_file(scratch('main.c'), join("\n", '#include <stdio.h>', 'extern unsigned data[];', (map { "long s_$_(long, long);" } 0 .. 99),
	"int main(void) { unsigned long h = 1; for (long k = 0; k < $ROUNDS; k++) {",
	(map { "h = h * 31 + (unsigned)s_$_((long)(h & 1023) + 1, k & 63);" } 0 .. 99),
	'} for (int i = 0; i < 16; i++) h = h * 33 + data[i]; printf("%lx\n", h); }'));

for my $seed (1 .. $ENV{FUNCTION_SEEDS} || 1) {
	srand($seed);
	my ($source, $program) = (write_file(scratch("shapes$seed.s"), functions()), scratch("shapes$seed"));
	is(system('gcc', '-O1', $seed % 2 ? () : ('-no-pie', '-fno-pie'), '-o', $program, $main, $source), 0, "seed $seed: a program");
	my $plain = run(command => [$program]);
	my $run = peek(engine => 'perf', events => 'page-faults', command => [$program], env => {CACHEPEEK_REGIONS => 'func:s_*'});
	is($run->{out}, $plain->{out}, "seed $seed: it does the same");
	my %calls = map { $_->{path}[-1] => $_->{calls} } grep { @{$_->{path}} } @{$run->{report}{regions}};
	is_deeply([grep { $calls{$_} != $ROUNDS } sort keys %calls], [], "seed $seed: all calls of each");
	cmp_ok(scalar(keys %calls), '>', 50, "seed $seed: most are regions");
	my %refused = map { $_ => 1 } map { /\b(s_\d+)/g } grep { /func:/ } @{$run->{report}{warnings}};
	is_deeply([grep { $calls{$_} } sort keys %refused], [], "seed $seed: of the others the report says why");
}
done_testing();
