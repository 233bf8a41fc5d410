/* SPDX-License-Identifier: MIT
 *	spawn_timer ROUNDS VARIANT…      each variant: [NAME=VALUE…] COMMAND… ,
 * Runs the variants in turn, ROUNDS times each, from posix_spawn to the end of
 * the wait, with their output thrown away; prints each one's median in
 * microseconds, a line per variant.  A lone comma ends a variant.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_VARIANTS = 16, MAX_ENV = 512 };

extern char **environ;

static struct variant {
	char *env[MAX_ENV];
	char **argv;
	double *us;
} variants[MAX_VARIANTS];

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void take_env(struct variant *variant, char ***words)
{
	int count = 0;

	for (; strchr(**words, '='); ++*words)
		variant->env[count++] = **words;
	for (char **entry = environ; *entry && count < MAX_ENV - 1; entry++)
		variant->env[count++] = *entry;
}

static int parse(char **words, unsigned rounds)
{
	int count = 0;

	while (*words && count < MAX_VARIANTS) {
		struct variant *variant = &variants[count++];

		take_env(variant, &words);
		variant->argv = words;
		variant->us = calloc(rounds, sizeof(double));
		while (*words && strcmp(*words, ","))
			words++;
		if (*words)
			*words++ = NULL;
	}
	return count;
}

static double run(const struct variant *variant, posix_spawn_file_actions_t *actions)
{
	double start = now_us();
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, variant->argv[0], actions, NULL, variant->argv,
		    (char **)variant->env)) {
		perror(variant->argv[0]);
		exit(1);
	}
	waitpid(pid, &status, 0);
	if (status) {
		fprintf(stderr, "%s: wait status %d\n", variant->argv[0], status);
		exit(1);
	}
	return now_us() - start;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	posix_spawn_file_actions_t actions;
	int count;

	if (!rounds)
		return 2;
	count = parse(argv + 2, rounds);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	for (unsigned round = 0; round < rounds; round++)
		for (int i = 0; i < count; i++)
			variants[i].us[round] = run(&variants[i], &actions);
	for (int i = 0; i < count; i++) {
		qsort(variants[i].us, rounds, sizeof(double), by_value);
		printf("%.1f\n", variants[i].us[rounds / 2]);
	}
	return 0;
}
