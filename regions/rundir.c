/* SPDX-License-Identifier: MIT */
#include "regions/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/directory.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/syscall.h"
#include "base/text.h"

/* Beside the runs, to that which all have that were started by one launcher. */
#define SCOPE_LINK "scope-"

/* Where there is no such directory: nobody would find a run again. */
#define TEMPORARY "cachepeek-"
/* A directory this old is removed even if the newest ones are fewer. */
#define MAX_ENTRIES 256

bool cp_run_base(cp_lookup *get, char *to, size_t size)
{
	const char *cache = get("XDG_CACHE_HOME"), *home = get("HOME");

	if (cache && *cache == '/')
		return cp_format(to, size, "%s/cachepeek", cache) < size;
	if (home && *home == '/')
		return cp_format(to, size, "%s/.cache/cachepeek", home) < size;
	return false;
}

static int make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int result;

		*slash = '\0';
		result = mkdir(path, 0700);
		*slash = '/';
		if (result < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static uint64_t random_bits(void)
{
	uint64_t bits = 0;
	struct timespec now;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) == (ssize_t)sizeof(bits))
		return bits;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid();
}

/* Day and second sort by age; the process that makes it is its owner, also before there
 * is a record in it; the random part makes it nobody else's. */
static int make_named(const char *parent, const char *prefix, char *to, size_t size)
{
	time_t now = time(NULL);
	uint64_t days = (uint64_t)now / 86400, seconds = (uint64_t)now % 86400;

	if (cp_format(to, size, "%s/%s%06llu-%05llu-%d-%016llx", parent, prefix,
		    (unsigned long long)days, (unsigned long long)seconds, (int)getpid(),
		    (unsigned long long)random_bits()) >= size)
		return -ENAMETOOLONG;
	return mkdir(to, 0700) < 0 ? -errno : 0;
}

/* ---- cleaning ---- */

/* Removes a file that we have written into a run. */
static bool unlink_ours(void *unused, int dir, const char *name)
{
	static const char *const endings[] = {".rec", ".samples", ".profile", ".log",
		".job", ".lock", ".told", ".above", ".plan", ".parcels"};

	(void)unused;
	for (unsigned i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (cp_ends_with(name, endings[i]))
			unlinkat(dir, name, 0);
	return false;
}

static void remove_at(int parent, const char *name)
{
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	cp_directory_any(dir, unlink_ours, NULL);
	cp_fd_close(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

struct runs {
	unsigned count;
	char name[MAX_ENTRIES][48];
	time_t changed[MAX_ENTRIES];
};

static bool note_run(void *context, int dir, const char *name)
{
	struct runs *runs = context;
	struct stat status;

	if (strncmp(name, "run-", 4) != 0 || strlen(name) >= 48 ||
		runs->count >= MAX_ENTRIES || cp_fd_stat_in(dir, name, &status) < 0)
		return false;
	cp_format(runs->name[runs->count], 48, "%s", name);
	runs->changed[runs->count++] = status.st_mtime;
	return false;
}

enum { KEPT_SECONDS = 10 * 86400, FRESH_SECONDS = 60 };

/* Its report, or a record of one that is shared, may be about to come; of very many
 * nobody waits for that. */
static bool is_fresh(time_t changed, time_t now, unsigned count)
{
	return changed > now - FRESH_SECONDS && changed <= now && count < MAX_ENTRIES / 2;
}

/* Takes a number and the '-' behind it; false: there are none. */
static bool take_number(const char **text, uint64_t *number)
{
	const char *end;

	if (cp_parse_u64_prefix(*text, &end, number) != 0 || *end != '-')
		return false;
	*text = end + 1;
	return true;
}

/* A run is over when no process of it lives; records are named PID-IMAGE. */
static bool is_alive(void *unused, int dir, const char *name)
{
	uint64_t pid;

	(void)unused, (void)dir;
	return take_number(&name, &pid) && pid <= INT32_MAX &&
	       cp_process_exists((pid_t)pid);
}

/* "run-020785-61656-4711-66400f60c7719e13"; shared ones have none. */
static bool owner_lives(const char *name)
{
	uint64_t day, second;

	name = strchr(name, '-');
	return name && *name++ && take_number(&name, &day) &&
	       take_number(&name, &second) && is_alive(NULL, -1, name);
}

/* Links to runs that are not there any more. */
static bool unlink_dangling(void *unused, int dir, const char *name)
{
	(void)unused;
	if (strncmp(name, SCOPE_LINK, sizeof(SCOPE_LINK) - 1) == 0 &&
		faccessat(dir, name, F_OK, 0) < 0 && errno == ENOENT)
		unlinkat(dir, name, 0);
	return false;
}

static bool in_use(int parent, const char *name)
{
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool alive;

	if (dir < 0)
		return true;
	alive = owner_lives(name) || cp_directory_any(dir, is_alive, NULL) > 0;
	cp_fd_close(dir);
	return alive;
}

static unsigned newer_than(const struct runs *runs, const char *name)
{
	unsigned newer = 0;

	for (unsigned i = 0; i < runs->count; i++)
		newer += strcmp(runs->name[i], name) > 0;
	return newer;
}

static void clean_runs(const char *base)
{
	static struct runs runs; /* once per run, in its root, before threads */
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	time_t now = time(NULL);

	if (dir < 0)
		return;
	runs.count = 0;
	cp_directory_any(dir, note_run, &runs);
	for (unsigned i = 0; i < runs.count; i++)
		if (newer_than(&runs, runs.name[i]) >= CP_KEPT_RUNS &&
			!is_fresh(runs.changed[i], now, runs.count) &&
			!in_use(dir, runs.name[i]))
			remove_at(dir, runs.name[i]);
	if (lseek(dir, 0, SEEK_SET) == 0)
		cp_directory_any(dir, unlink_dangling, NULL);
	cp_fd_close(dir);
}

/* ---- among temporary files ---- */

/* They have no name by which they could be found again, and stay for a while for who was
 * told where they are: a few, and not for long. */

static struct {
	unsigned count, others;
	struct {
		char name[48];
		time_t changed;
	} of[MAX_ENTRIES];
} temporary; /* once per run, in its root, before threads */

/* "cachepeek-020785-61656-4711-66400f60c7719e13", "cachepeek-0-66400f60c7719e13" */
static bool is_named_temporary(const char *name)
{
	size_t prefix = sizeof(TEMPORARY) - 1, length = strlen(name);

	return strncmp(name, TEMPORARY, prefix) == 0 && name[prefix] >= '0' &&
	       name[prefix] <= '9' && length > prefix + 17 &&
	       length < sizeof(temporary.of[0].name) && name[length - 17] == '-' &&
	       strspn(name + prefix, "0123456789abcdef-") == length - prefix;
}

static bool note_temporary(void *unused, int dir, const char *name)
{
	struct stat status;

	(void)unused;
	if (!is_named_temporary(name) || cp_fd_stat_in(dir, name, &status) < 0 ||
		!S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
		(status.st_mode & 077) != 0)
		return false;
	cp_format(temporary.of[temporary.count].name, sizeof(temporary.of[0].name), "%s",
		name);
	temporary.of[temporary.count++].changed = status.st_mtime;
	return temporary.count == MAX_ENTRIES;
}

static bool is_temporary_old(unsigned which, time_t now)
{
	time_t changed = temporary.of[which].changed;
	unsigned newer = 0;

	if (is_fresh(changed, now, temporary.count))
		return false;
	for (unsigned i = 0; i < temporary.count; i++)
		newer += temporary.of[i].changed > changed ||
			 (i < which && temporary.of[i].changed == changed);
	return newer >= CP_KEPT_RUNS - 1 || changed < now - KEPT_SECONDS;
}

/* Before another one is made there. */
static void clean_temporary(const char *place)
{
	int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	time_t now = time(NULL);

	temporary.count = 0;
	if (dir < 0)
		return;
	cp_directory_any(dir, note_temporary, NULL);
	temporary.others = temporary.count;
	for (unsigned i = 0; i < temporary.count; i++)
		if (is_temporary_old(i, now) && !in_use(dir, temporary.of[i].name))
			remove_at(dir, temporary.of[i].name);
	cp_fd_close(dir);
}

/* ---- making ---- */

/* Symlinks are replaced by rename, so that `last` always exists. */
static void point_last(const char *base, const char *run)
{
	char fresh[CP_RUNDIR_SIZE], last[CP_RUNDIR_SIZE];
	const char *name = strrchr(run, '/') + 1;

	if (cp_format(fresh, sizeof(fresh), "%s/.last-%d", base, (int)getpid()) >=
			sizeof(fresh) ||
		cp_format(last, sizeof(last), "%s/last", base) >= sizeof(last))
		return;
	unlink(fresh);
	if (symlink(name, fresh) == 0)
		rename(fresh, last);
}

/* After the removal of a run: `last` is the newest that is left. */
static void repoint_last(const char *removed)
{
	char base[CP_RUNDIR_SIZE], run[CP_RUNDIR_SIZE];
	const char *slash = strrchr(removed, '/'), *newest = NULL;
	static struct runs runs;
	int dir;

	if (!slash || strncmp(slash + 1, "run-", 4) != 0)
		return;
	cp_format(base, sizeof(base), "%.*s", (int)(slash - removed), removed);
	dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	runs.count = 0;
	cp_directory_any(dir, note_run, &runs);
	for (unsigned i = 0; i < runs.count; i++)
		if (!newest || strcmp(runs.name[i], newest) > 0)
			newest = runs.name[i];
	if (!newest)
		unlinkat(dir, "last", 0);
	else if (cp_format(run, sizeof(run), "%s/%s", base, newest) < sizeof(run))
		point_last(base, run);
	cp_fd_close(dir);
}

void cp_run_remove(const char *path)
{
	remove_at(AT_FDCWD, path);
	repoint_last(path);
}

/* Is a record of another process, that lives, in there? */
static bool is_of_another(void *own, int dir, const char *name)
{
	const char *end;
	uint64_t pid;

	return is_alive(NULL, dir, name) && cp_parse_u64_prefix(name, &end, &pid) == 0 &&
	       (pid_t)pid != *(const pid_t *)own;
}

void cp_run_remove_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');
	pid_t own = getpid();
	int dir;

	if (!slash || strncmp(slash + 1, TEMPORARY, sizeof(TEMPORARY) - 1) != 0)
		return;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return;
	if (cp_directory_any(dir, is_of_another, &own) == 0)
		remove_at(AT_FDCWD, path);
	cp_fd_close(dir);
}

unsigned cp_run_forget(cp_lookup *get)
{
	static struct runs runs;
	char base[CP_RUNDIR_SIZE];
	unsigned forgotten = 0;
	int dir = cp_run_base(get, base, sizeof(base) - sizeof("/run-"))
			  ? open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			  : -1;

	if (dir < 0)
		return 0;
	runs.count = 0;
	cp_directory_any(dir, note_run, &runs);
	for (unsigned i = 0; i < runs.count; i++) {
		if (in_use(dir, runs.name[i]))
			continue;
		remove_at(dir, runs.name[i]);
		forgotten += faccessat(dir, runs.name[i], F_OK, 0) < 0;
	}
	cp_fd_close(dir);
	strcat(base, "/run-");
	repoint_last(base);
	return forgotten;
}

/* Accounts of servers name homes that are not there, and that are not to be made. */
static bool home_is_missing(cp_lookup *get)
{
	const char *cache = get("XDG_CACHE_HOME"), *home = get("HOME");
	struct stat there;

	if (cache && *cache == '/')
		return false;
	return !home || stat(home, &there) < 0;
}

static int make_in_base(cp_lookup *get, char *to, size_t size)
{
	char base[CP_RUNDIR_SIZE];
	int result;

	if (!cp_run_base(get, base, sizeof(base) - 1) || home_is_missing(get))
		return -ENOENT;
	memcpy(to, base, strlen(base) + 1);
	strcat(base, "/");
	result = make_parents(base);
	if (result < 0)
		return result;
	base[strlen(base) - 1] = '\0';
	clean_runs(base);
	result = make_named(base, "run-", to, size);
	if (result == 0)
		point_last(base, to);
	return result;
}

static int make_in_temporary(cp_lookup *get, char *to, size_t size)
{
	const char *places[] = {get("TMPDIR"), "/tmp", "/dev/shm"};
	int result = -ENOENT;

	for (unsigned i = 0; i < 3; i++) {
		if (!places[i] || *places[i] != '/')
			continue;
		clean_temporary(places[i]);
		result = make_named(places[i], TEMPORARY, to, size);
		if (result == 0)
			return 0;
	}
	return result;
}

static int make_wanted(const char *wanted, char *to, size_t size)
{
	char cwd[CP_RUNDIR_SIZE] = "";
	int result;

	if (*wanted != '/' && !getcwd(cwd, sizeof(cwd)))
		return -errno;
	if (cp_format(to, size, "%s%s%s", cwd, *cwd ? "/" : "", wanted) >= size)
		return -ENAMETOOLONG;
	result = make_parents(to);
	if (result < 0)
		return result;
	return mkdir(to, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

bool cp_run_is_first_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && is_named_temporary(slash + 1) && temporary.others == 0;
}

int cp_run_make(cp_lookup *get, const char *wanted, char *to, size_t size)
{
	if (wanted)
		return make_wanted(wanted, to, size);
	if (make_in_base(get, to, size) == 0)
		return 0;
	return make_in_temporary(get, to, size);
}

/* ---- sharing ---- */

#define SCOPE_PATH (CP_RUNDIR_SIZE + 32)
#define PLACES 3

static bool is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Reads the link beside the runs; false: it leads to nothing. */
static bool follow_link(const char *base, const char *link, char *to, size_t size)
{
	char name[64];
	ssize_t length = readlink(link, name, sizeof(name) - 1);

	if (length <= 0)
		return false;
	name[length] = '\0';
	return strncmp(name, "run-", 4) == 0 && !strchr(name, '/') &&
	       cp_format(to, size, "%s/%s", base, name) < size && is_directory(to);
}

static void name_link(char link[SCOPE_PATH], const char *base, uint64_t scope)
{
	cp_format(link, SCOPE_PATH, "%s/" SCOPE_LINK "%016llx", base,
		(unsigned long long)scope);
}

/* The first to make the link has made the directory for all. */
static int share_in_base(cp_lookup *get, uint64_t scope, char *to, size_t size)
{
	char base[CP_RUNDIR_SIZE], link[SCOPE_PATH];
	int result;

	if (!cp_run_base(get, base, sizeof(base)))
		return -ENOENT;
	name_link(link, base, scope);
	if (follow_link(base, link, to, size))
		return 0;
	result = make_in_base(get, to, size);
	if (result < 0)
		return result;
	for (int tries = 0; tries < 2; tries++) {
		char other[CP_RUNDIR_SIZE];

		if (symlink(strrchr(to, '/') + 1, link) == 0)
			return 0;
		if (follow_link(base, link, other, sizeof(other))) {
			cp_run_remove(to);
			point_last(base, other);
			cp_format(to, size, "%s", other);
			return 0;
		}
		unlink(link); /* of a run that was removed */
	}
	return 0;
}

static bool is_ours_alone(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

/* Among temporary files, in the one place or the other; false: not there. */
static bool name_temporary(
	cp_lookup *get, unsigned place, uint64_t scope, char *to, size_t size)
{
	const char *places[PLACES] = {get("TMPDIR"), "/tmp", "/dev/shm"};

	return places[place] && *places[place] == '/' &&
	       cp_format(to, size, "%s/cachepeek-%u-%016llx", places[place],
		       (unsigned)geteuid(), (unsigned long long)scope) < size;
}

static int share_in_temporary(cp_lookup *get, uint64_t scope, char *to, size_t size)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (name_temporary(get, i, scope, to, size) &&
			(mkdir(to, 0700) == 0 || is_ours_alone(to)))
			return 0;
	return -ENOENT;
}

bool cp_run_find_shared(cp_lookup *get, uint64_t scope, char *to, size_t size)
{
	char base[CP_RUNDIR_SIZE], link[SCOPE_PATH];

	if (cp_run_base(get, base, sizeof(base))) {
		name_link(link, base, scope);
		if (follow_link(base, link, to, size))
			return true;
	}
	for (unsigned i = 0; i < PLACES; i++)
		if (name_temporary(get, i, scope, to, size) && is_ours_alone(to))
			return true;
	return false;
}

int cp_run_share(cp_lookup *get, uint64_t scope, char *to, size_t size)
{
	if (share_in_base(get, scope, to, size) == 0 ||
		share_in_temporary(get, scope, to, size) == 0)
		return 0;
	return cp_run_make(get, NULL, to, size);
}
