/* SPDX-License-Identifier: MIT */
#include "preload/rank.h"

#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "preload/env.h"

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

/* Of the rank among those on its host. */
static const char *const local_variables[] = {
	"OMPI_COMM_WORLD_LOCAL_RANK",
	"MV2_COMM_WORLD_LOCAL_RANK",
	"MVP_COMM_WORLD_LOCAL_RANK",
	"PALS_LOCAL_RANKID",
	"FLUX_TASK_LOCAL_ID",
	"JSM_NAMESPACE_LOCAL_RANK",
	"MPI_LOCALRANKID",
};

static const char *const launchers[] = {
	"mpirun",
	"mpiexec",
	"mpiexec.hydra",
	"mpiexec.openmpi",
	"mpirun.openmpi",
	"mpiexec.mpich",
	"mpirun.mpich",
	"orterun",
	"orted",
	"prterun",
	"prted",
	"hydra_pmi_proxy",
	"hydra_bstrap_proxy",
	"srun",
	"slurmstepd",
};

static int rank_of(const char *value)
{
	uint64_t rank;

	return value && cp_parse_u64(value, &rank) == 0 && rank <= INT_MAX ? (int)rank
									   : -1;
}

int cp_rank_from_environment(void)
{
	int rank;

	for (unsigned i = 0; i < sizeof(rank_variables) / sizeof(rank_variables[0]);
		i++) {
		rank = rank_of(cp_env_get(rank_variables[i]));
		if (rank >= 0)
			return rank;
	}
	return cp_env_get("SLURM_STEP_ID") ? rank_of(cp_env_get("SLURM_PROCID")) : -1;
}

int cp_ranks_from_environment(void)
{
	int ranks;

	for (unsigned i = 0; i < sizeof(size_variables) / sizeof(size_variables[0]);
		i++) {
		ranks = rank_of(cp_env_get(size_variables[i]));
		if (ranks > 0)
			return ranks;
	}
	ranks = cp_env_get("SLURM_STEP_ID") ? rank_of(cp_env_get("SLURM_STEP_NUM_TASKS"))
					    : -1;
	return ranks > 0 ? ranks : 0;
}

int cp_local_rank_from_environment(void)
{
	int rank;

	for (unsigned i = 0; i < sizeof(local_variables) / sizeof(local_variables[0]);
		i++) {
		rank = rank_of(cp_env_get(local_variables[i]));
		if (rank >= 0)
			return rank;
	}
	return cp_env_get("SLURM_STEP_ID") ? rank_of(cp_env_get("SLURM_LOCALID")) : -1;
}

bool cp_is_launcher(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	for (unsigned i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strcmp(slash ? slash + 1 : exe, launchers[i]) == 0)
			return true;
	return false;
}
