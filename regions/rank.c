/* SPDX-License-Identifier: MIT */
#include "regions/rank.h"

#include <limits.h>
#include <string.h>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "regions/ancestors.h"

/* Innermost launcher first: Slurm forwards its variables to what mpirun starts
 * inside a job, and sets SLURM_PROCID in batch scripts, too. */
static const char *const rank_variables[] = {
	"OMPI_COMM_WORLD_RANK",
	"MV2_COMM_WORLD_RANK",
	"MVP_COMM_WORLD_RANK",
	"PALS_RANKID",
	"FLUX_TASK_RANK",
	"JSM_NAMESPACE_RANK",
	"PMI_RANK",
	"PMIX_RANK",
	"ALPS_APP_PE",
};

static const char *const size_variables[] = {
	"OMPI_COMM_WORLD_SIZE",
	"MV2_COMM_WORLD_SIZE",
	"MVP_COMM_WORLD_SIZE",
	"PALS_SIZE",
	"FLUX_JOB_SIZE",
	"JSM_NAMESPACE_SIZE",
	"PMI_SIZE",
};

/* The number of the rank among those on its host. */
static const char *const local_variables[] = {
	"OMPI_COMM_WORLD_LOCAL_RANK",
	"MV2_COMM_WORLD_LOCAL_RANK",
	"MVP_COMM_WORLD_LOCAL_RANK",
	"PALS_LOCAL_RANKID",
	"FLUX_TASK_LOCAL_ID",
	"JSM_NAMESPACE_LOCAL_RANK",
	"MPI_LOCALRANKID",
};

/* Variables that distinguish the jobs of one launcher, and those of a cluster. */
static const char *const job_variables[] = {
	"PMIX_NAMESPACE",
	"PMI_JOBID",
	"PMI_SPAWNED", /* which all have that MPI_Comm_spawn starts */
	"PALS_APID",
	"FLUX_JOB_ID",
	"ALPS_APP_ID",
	"JSM_NAMESPACE_ID",
	"SLURM_JOB_ID",
	"SLURM_STEP_ID",
	"SLURM_RESTART_COUNT",
};

static int rank_of(const char *value)
{
	uint64_t rank;

	return value && cp_parse_u64(value, &rank) == 0 && rank <= INT_MAX ? (int)rank
									   : -1;
}

/* The first of these variables that has a number; -1: none. */
static int first_of(const char *const *names, size_t count, cp_lookup *get)
{
	int rank = -1;

	for (size_t i = 0; i < count && rank < 0; i++)
		rank = rank_of(get(names[i]));
	return rank;
}

#define FIRST_OF(names, get) first_of(names, sizeof(names) / sizeof(names[0]), get)

static int or_of_step(int rank, const char *name, cp_lookup *get)
{
	return rank >= 0 || !get("SLURM_STEP_ID") ? rank : rank_of(get(name));
}

/* Slurm's daemon is another one on each host, and those of PMIx give names; but what
 * Hydra starts may have inherited one. */
static bool names_jobs(const struct cp_ancestor *daemon, cp_lookup *get)
{
	return strcmp(daemon->name, "slurmstepd") == 0 ||
	       (get("PMIX_NAMESPACE") && !strstr(daemon->name, "pmi_proxy"));
}

/* The daemon that starts a job's ranks tells jobs apart that have no name. */
static uint64_t job_key(cp_lookup *get, bool *unnamed)
{
	struct cp_launchers above;
	uint64_t key = 0;
	const char *value;

	for (size_t i = 0; i < sizeof(job_variables) / sizeof(job_variables[0]); i++) {
		value = get(job_variables[i]);
		key = cp_hash_text(key, value ? value : "");
	}
	cp_launchers_above(&above);
	*unnamed = above.found && !names_jobs(&above.nearest, get);
	if (*unnamed)
		return key ^ cp_ancestor_key(&above.nearest);
	return above.found || get("SLURM_JOB_ID") || get("PMIX_NAMESPACE") ? key : 0;
}

static uint64_t own_key(uint64_t job, int rank)
{
	char text[16];

	cp_format(text, sizeof(text), "%d", rank);
	return job ? cp_hash_text(job, text) : 0;
}

void cp_rank_find(struct cp_rank *rank, cp_lookup *get)
{
	bool unnamed;

	*rank = (struct cp_rank){.number = -1, .local = -1};
	rank->number = or_of_step(FIRST_OF(rank_variables, get), "SLURM_PROCID", get);
	if (rank->number < 0)
		return;
	rank->of = or_of_step(FIRST_OF(size_variables, get), "SLURM_STEP_NUM_TASKS", get);
	rank->of = rank->of > 0 ? rank->of : 0;
	rank->local = or_of_step(FIRST_OF(local_variables, get), "SLURM_LOCALID", get);
	rank->job = job_key(get, &unnamed);
	rank->spawned = unnamed && get("PMI_SPAWNED") && !get("PMI_JOBID");
	rank->self = own_key(rank->job, rank->number);
}

uint64_t cp_rank_scope(const struct cp_rank *rank)
{
	struct cp_launchers above;

	cp_launchers_above(&above);
	return above.found ? cp_ancestor_key(&above.farthest) : rank->job;
}
