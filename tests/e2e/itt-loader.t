#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# A library whose constructor makes a domain of ITT while another thread makes one: the
# loader's lock is held by the first, and we ask the loader about the program's parts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Peek;
use Standin;
use Test::More;

my $plugin = compiled('plugin.so', <<'C', qw(gcc -shared -fPIC -x c SOURCE));
void new_domain(const char *from, int number);

__attribute__((constructor)) static void loaded(void)
{
	static int number;

	for (int i = 0; i < 10; i++)
		new_domain("plugin", number++);
}
C

my $program = compiled('loads', <<'C', qw(gcc -O1 -rdynamic -pthread -x c SOURCE));
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct function { const char *name; void **pointer; void *init, *null; int group; };
struct global {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct function *functions;
	struct global *next;
	void *threads, *domains, *strings;
};

static void *(*domain_create)(const char *);
static struct function functions[] = {{"__itt_domain_create", (void **)&domain_create}, {0}};
static struct global global = {.functions = functions};
static const char *path;
enum { ROUNDS = 400 };

void new_domain(const char *from, int number)
{
	static int rounds;
	char *name = malloc(80);

	snprintf(name, 80, "%s %d of %d", from, number, __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED));
	if (!domain_create(name))
		puts("no domain");
}

static void *load(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		dlclose(dlopen(path, RTLD_NOW));
	return unused;
}

static void *name(void *unused)
{
	for (int i = 0; i < ROUNDS * 10; i++)
		new_domain("thread", i);
	return unused;
}

int main(int argc, char **argv)
{
	void (*init)(struct global *, int), *us = dlsym(RTLD_DEFAULT, "__itt_api_init");
	pthread_t thread[2];

	path = argv[argc - 1];
	*(void **)&init = us;
	alarm(50);
	init(&global, 0);
	pthread_create(&thread[0], NULL, load, NULL);
	pthread_create(&thread[1], NULL, name, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	puts("both are done");
	return 0;
}
C

for my $engine ((can_count('software') ? \@PERF : ()), \@SIM) {
	my $run = peek(@$engine, command => [$program, $plugin]);
	my %engine = @$engine;
	is($run->{out}, "both are done\n", "$engine{engine}: neither waits for the other");
	is(status_text($run->{status}), 'exit 0', "$engine{engine}: its end") or diag($run->{err});
}
done_testing();
