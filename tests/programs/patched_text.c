/* SPDX-License-Identifier: MIT
 *	patched_text KIND...
 * Code that lies in a file's mapping is executed, changed in one of many ways, and
 * executed again, several times: prints what it returned each time.  Without a kind:
 *names all of them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	SIZE = 8,
	RX = PROT_READ | PROT_EXEC,
	RW = PROT_READ | PROT_WRITE,
	RWX = RX | PROT_WRITE
};

typedef int function(void);

/* A part of the program's own text, on pages of their own. */
#define OWN __attribute__((noinline, noclone, aligned(4096), section("patched")))
OWN int own(void)
{
	return 1;
}
OWN int behind(void)
{
	return 9;
}

/* ---- code ---- */

/* A function that returns n. */
static const unsigned char *code_of(unsigned n)
{
#ifdef __x86_64__
	static unsigned char code[SIZE];

	memcpy(code, (unsigned char[]){0xb8, (unsigned char)n, 0, 0, 0, 0xc3, 0x90, 0x90},
		SIZE);
	return code;
#else
	static uint32_t code[SIZE / 4];

	code[0] = 0x52800000u | n << 5;
	code[1] = 0xd65f03c0u;
	return (const unsigned char *)code;
#endif
}

static void say(void *code)
{
	function *volatile f;

	__builtin___clear_cache(code, (char *)code + SIZE);
	memcpy((void *)&f, &code, sizeof(f));
	for (int i = 0; i < 3; i++)
		printf("%d ", f());
}

static void put(void *to, unsigned n)
{
	memcpy(to, code_of(n), SIZE);
	__builtin___clear_cache(to, (char *)to + SIZE);
}

/* ---- files ---- */

static char path[64];

static void need(int holds, const char *what)
{
	if (holds)
		return;
	printf("cannot: %s\n", what);
	exit(77);
}

static int open_file(unsigned n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	need(fd >= 0 && write(fd, code_of(n), SIZE) == SIZE &&
			ftruncate(fd, 2 * PAGE) == 0,
		"a file");
	return fd;
}

static void *map_at(void *at, int fd, int access, int how)
{
	void *p = mmap(at, PAGE, access, how, fd, 0);

	need(p != MAP_FAILED, "mmap");
	return p;
}

/* Opened to be read, and closed. */
static void *map_read_only(int access, int how)
{
	int fd = open(path, O_RDONLY);
	void *p = map_at(NULL, fd, access, how);

	close(fd);
	return p;
}

static void write_file(int fd, unsigned n)
{
	need(pwrite(fd, code_of(n), SIZE, 0) == SIZE, "pwrite");
}

/* ---- the kinds ---- */

static void allow(void *p, int access)
{
	need(mprotect(p, PAGE, access) == 0, "mprotect");
}

static void text_writable(void)
{
	say(own);
	allow(own, RWX);
	for (unsigned n = 2; n < 5; n++) {
		put(own, n);
		say(own);
	}
	allow(own, RX);
	say(own);
	allow(own, RWX);
	put(own, 5);
	say(own);
}

static void text_for_a_while(void)
{
	say(own);
	for (unsigned n = 2; n < 5; n++) {
		allow(own, RW);
		put(own, n);
		allow(own, RX);
		say(own);
	}
}

static void text_with_key(void)
{
	say(own);
	if (syscall(SYS_pkey_mprotect, own, PAGE, RWX, -1) != 0)
		allow(own, RWX);
	put(own, 2);
	say(own);
}

/* As debuggers and live patchers do, where nothing is writable. */
static void by_memory_file(const char *name)
{
	int fd = open(name, O_RDWR);

	need(fd >= 0, name);
	for (unsigned n = 2; n < 5; n++) {
		need(pwrite(fd, code_of(n), SIZE, (off_t)(uintptr_t)own) == SIZE,
			"pwrite");
		say(own);
	}
	close(fd);
	say(own);
}

static void memory_file(void)
{
	say(own);
	by_memory_file("/proc/self/mem");
}

static void memory_file_of_thread(void)
{
	char name[64];

	say(own);
	snprintf(name, sizeof(name), "/proc/%d/task/%ld/mem", getpid(),
		(long)syscall(SYS_gettid));
	by_memory_file(name);
}

static void memory_file_by_link(void)
{
	say(own);
	unlink(path);
	need(symlink("/proc/self/mem", path) == 0, "symlink");
	by_memory_file(path);
}

static void *patch_later(void *unused)
{
	usleep(1000);
	allow(own, RWX);
	put(own, 2);
	return unused;
}

/* While another thread executes it. */
static void by_thread(void)
{
	function *volatile f = own;
	pthread_t thread;
	long tries = 0;

	pthread_create(&thread, NULL, patch_later, NULL);
	while (f() == 1 && tries < 300000000)
		tries++;
	pthread_join(thread, NULL);
	say(own);
}

static void in_child(void)
{
	pid_t child;

	say(own);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		text_writable();
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	say(own);
}

static void private_writable(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, RWX, MAP_PRIVATE);

	say(p);
	for (unsigned n = 2; n < 5; n++) {
		put(p, n);
		say(p);
	}
}

static void private_then_executable(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, RW, MAP_PRIVATE);

	for (unsigned n = 2; n < 5; n++) {
		put(p, n);
		allow(p, RX);
		say(p);
		allow(p, RW);
	}
}

static void private_dropped(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, RW, MAP_PRIVATE);

	put(p, 2);
	allow(p, RX);
	say(p);
	need(madvise(p, PAGE, MADV_DONTNEED) == 0, "madvise");
	say(p);
}

/* A page that is the process's own only when it is written. */
static void private_of_written_file(void)
{
	int fd = open_file(1);
	void *p = map_read_only(RX, MAP_PRIVATE);

	say(p);
	write_file(fd, 2);
	say(p);
}

static void private_of_opened_later(void)
{
	void *p;
	int fd;

	close(open_file(1));
	p = map_read_only(RX, MAP_PRIVATE);
	say(p);
	fd = open(path, O_WRONLY);
	write_file(fd, 2);
	say(p);
	close(fd);
	say(p);
}

static void shared_written(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, RX, MAP_SHARED);

	for (unsigned n = 2; n < 5; n++) {
		say(p);
		write_file(fd, n);
	}
	say(p);
}

static void shared_mapped_twice(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, RX, MAP_SHARED), *q;

	say(p);
	q = map_at(NULL, fd, RW, MAP_SHARED);
	for (unsigned n = 2; n < 5; n++) {
		put(q, n);
		say(p);
	}
}

static void private_and_shared(void)
{
	int fd = open_file(1);
	void *p = map_read_only(RX, MAP_PRIVATE), *q = map_at(NULL, fd, RW, MAP_SHARED);

	close(fd);
	say(p);
	put(q, 2);
	say(p);
}

static void shared_of_child(void)
{
	void *p;
	pid_t child;

	close(open_file(1));
	p = map_read_only(RX, MAP_SHARED);
	say(p);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		write_file(open(path, O_RDWR), 2);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	say(p);
}

static void shared_made_executable(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, PROT_READ, MAP_SHARED);

	allow(p, RX);
	say(p);
	write_file(fd, 2);
	say(p);
}

/* A program that got a descriptor from another process. */
static void by_passed_descriptor(void)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	char byte = 0;
	struct iovec bytes = {&byte, 1};
	struct msghdr message = {.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int ends[2], fd;
	void *p;

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	if (fork() == 0) {
		fd = open_file(1);
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		_exit(sendmsg(ends[0], &message, 0) != 1);
	}
	wait(NULL);
	p = map_read_only(RX, MAP_PRIVATE);
	say(p);
	need(recvmsg(ends[1], &message, 0) == 1, "recvmsg");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	write_file(fd, 2);
	say(p);
}

/* A program whose descriptor was opened by the program that executed this one. */
static void by_given_descriptor(void)
{
	const char *given = getenv("PATCHED_TEXT_FD");
	char number[96];
	void *p;

	if (!given) {
		snprintf(number, sizeof(number), "%d %s", open_file(1), path);
		setenv("PATCHED_TEXT_FD", number, 1);
		execl("/proc/self/exe", "patched_text", "by_given_descriptor",
			(char *)NULL);
		need(0, "exec");
	}
	snprintf(path, sizeof(path), "%s", strchr(given, ' ') + 1);
	p = map_read_only(RX, MAP_PRIVATE);
	say(p);
	write_file(atoi(given), 2);
	say(p);
}

static void by_calls(void)
{
	struct iovec from = {NULL, SIZE}, to = {own, SIZE};
	unsigned char code[SIZE];
	int ends[2], fd = open_file(2);

	need(pipe(ends) == 0, "pipe");
	allow(own, RWX);
	say(own);
	need(pread(fd, own, SIZE, 0) == SIZE, "pread");
	say(own);
	need(write(ends[1], code_of(3), SIZE) == SIZE && read(ends[0], own, SIZE) == SIZE,
		"read");
	say(own);
	need(write(ends[1], code_of(4), SIZE) == SIZE && readv(ends[0], &to, 1) == SIZE,
		"readv");
	say(own);
	memcpy(code, code_of(5), SIZE);
	from.iov_base = code;
	if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != SIZE)
		put(own, 5); /* some containers forbid it */
	say(own);
}

static void moved(void)
{
	int fd = open_file(1);
	void *p = map_at(NULL, fd, RX, MAP_PRIVATE), *q;

	say(p);
	write_file(fd, 2);
	q = map_at(NULL, fd, RX, MAP_PRIVATE);
	say(q);
	unlink(path);
	q = map_at(NULL, open_file(3), RX, MAP_PRIVATE);
	need(mremap(q, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p, "mremap");
	say(p);
}

static void mapped_over(void)
{
	void *p = map_at(NULL, open_file(1), RX, MAP_PRIVATE);

	for (unsigned n = 2; n < 5; n++) {
		say(p);
		unlink(path);
		map_at(p, open_file(n), RX, MAP_PRIVATE | MAP_FIXED);
	}
	say(p);
	munmap(p, PAGE);
	map_at(p, open_file(5), RX, MAP_PRIVATE | MAP_FIXED);
	say(p);
}

/* Begins on a page that does not change, and goes on on one that does. */
static void on_two_pages(void)
{
	unsigned char *p = mmap(NULL, 2 * PAGE, RWX, MAP_PRIVATE, open_file(1), 0);

	need((void *)p != MAP_FAILED, "mmap");
	put(p + PAGE - 4, 1);
	allow(p, RX);
	for (unsigned n = 2; n < 5; n++) {
		unsigned char code[SIZE];

		say(p + PAGE - 4);
		memcpy(code, code_of(n), SIZE);
		memcpy(p + PAGE, code + 4, SIZE - 4);
#ifdef __x86_64__
		p[PAGE] = (unsigned char)n; /* of the constant's last byte */
#endif
	}
	say(p + PAGE - 4);
}

/* The program's own data. */
static unsigned char data[2 * PAGE] __attribute__((aligned(4096))) = {1};

static void in_data(void)
{
	allow(data, RWX);
	for (unsigned n = 1; n < 4; n++) {
		put(data, n);
		say(data);
	}
}

static void in_shared_memory(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, 0600);
	void *p = shmat(id, NULL, 0), *q = shmat(id, NULL, SHM_EXEC | SHM_RDONLY);

	shmctl(id, IPC_RMID, NULL);
	need(p != (void *)-1 && q != (void *)-1, "shmat");
	for (unsigned n = 1; n < 4; n++) {
		put(p, n);
		say(q);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
#define KIND(f) {#f, f},
	KIND(text_writable) KIND(text_for_a_while) KIND(text_with_key) KIND(
		memory_file) KIND(memory_file_of_thread) KIND(memory_file_by_link)
		KIND(by_thread) KIND(in_child) KIND(private_writable) KIND(
			private_then_executable) KIND(private_dropped)
			KIND(private_of_written_file) KIND(private_of_opened_later) KIND(
				private_and_shared) KIND(shared_written)
				KIND(shared_mapped_twice) KIND(shared_of_child) KIND(
					shared_made_executable) KIND(by_passed_descriptor)
					KIND(by_given_descriptor) KIND(by_calls)
						KIND(moved) KIND(mapped_over)
							KIND(on_two_pages) KIND(in_data)
								KIND(in_shared_memory)};

int main(int argc, char **argv)
{
	const char *where = getenv("TMPDIR");

	snprintf(
		path, sizeof(path), "%.40s/patched-%d", where ? where : "/tmp", getpid());
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc < 2)
			printf("%s\n", kinds[i].name);
		else if (strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	}
	unlink(path);
	if (argc > 1)
		printf("%d\n", behind());
	return 0;
}
