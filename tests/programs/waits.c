/* SPDX-License-Identifier: MIT
 *
 * Calls that wait until another thread ends that: each is made by a thread while the
 * first one counts, and prints whether that came to run.  What the system does not have
 * is skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef F_OFD_SETLKW
#define F_OFD_SETLKW 38
#endif

static int ends[2], others[2]; /* of pipes */
static int file, second;       /* one file, opened twice */
static int set, queue, semaphore, messages, ring, listener;
static uint32_t word;
static char place[64];

/* ---- what waits (pairs: waits, ends that) ---- */

static void read_pipe(void)
{
	char c;

	(void)!read(ends[0], &c, 1);
}

static void write_pipe(void)
{
	(void)!write(ends[1], "x", 1);
}

static void poll_pipe(void)
{
	struct pollfd pipe = {ends[0], POLLIN, 0};

	poll(&pipe, 1, -1);
}

static void wait_epoll(void)
{
	struct epoll_event event;

	epoll_wait(set, &event, 1, -1);
}

static void wait_epoll2(void)
{
	struct epoll_event event;

	syscall(441, set, &event, 1, NULL, NULL, 8); /* epoll_pwait2 */
}

static void splice_pipe(void)
{
	(void)!splice(ends[0], NULL, others[1], NULL, 1, 0);
}

static void tee_pipe(void)
{
	(void)!tee(ends[0], others[1], 1, 0);
}

static void fill_pipe(void)
{
	static char much[1 << 20];

	(void)!write(ends[1], much, sizeof(much));
}

static void drain_pipe(void)
{
	static char much[1 << 20];

	for (size_t all = 0; all < sizeof(much);)
		all += (size_t)read(ends[0], much, sizeof(much));
}

static void gift_pipe(void)
{
	static char much[1 << 20];
	struct iovec part = {much, sizeof(much)};

	/* It waits for room in a full pipe alone. */
	(void)!vmsplice(ends[1], &part, 1, SPLICE_F_NONBLOCK);
	(void)!vmsplice(ends[1], &part, 1, 0);
}

static void drain_some(void)
{
	static char much[1 << 16];

	(void)!read(ends[0], much, sizeof(much));
}

static void lock_description(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	fcntl(second, F_OFD_SETLKW, &lock);
}

static void unlock_description(void)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	fcntl(file, F_OFD_SETLKW, &lock);
}

static void lock_file(void)
{
	flock(second, LOCK_EX);
}

static void unlock_file(void)
{
	flock(file, LOCK_UN);
}

static void take_semaphore(void)
{
	struct sembuf down = {0, -1, 0};

	semop(semaphore, &down, 1);
}

static void give_semaphore(void)
{
	struct sembuf up = {0, 1, 0};

	semop(semaphore, &up, 1);
}

static void take_message(void)
{
	struct {
		long type;
		char text[8];
	} message;

	msgrcv(messages, &message, sizeof(message.text), 0, 0);
}

static void give_message(void)
{
	const struct {
		long type;
		char text[8];
	} message = {1, "text"};

	msgsnd(messages, &message, sizeof(message.text), 0);
}

static void take_queued(void)
{
	char text[64];

	mq_receive(queue, text, sizeof(text), NULL);
}

static void give_queued(void)
{
	mq_send(queue, "x", 1, 0);
}

static void wait_futex(void)
{
	while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wait_futexes(void)
{
	struct {
		uint64_t value, address;
		uint32_t flags, reserved;
	} one = {0, (uint64_t)(uintptr_t)&word, 2 | 128, 0}; /* 32 bits, private */

	syscall(449, &one, 1, 0, NULL, 0); /* futex_waitv */
}

static void wake_futex(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_ring(void)
{
	syscall(426, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0); /* io_uring_enter */
}

static struct io_uring_params of_ring;

static void feed_ring(void)
{
	size_t size = of_ring.sq_off.array + of_ring.sq_entries * sizeof(uint32_t);
	char *submitted = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entries = mmap(NULL, of_ring.sq_entries * sizeof(*entries),
		PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);

	memset(entries, 0, sizeof(*entries)); /* IORING_OP_NOP */
	((uint32_t *)(void *)(submitted + of_ring.sq_off.array))[0] = 0;
	__atomic_store_n((uint32_t *)(void *)(submitted + of_ring.sq_off.tail), 1,
		__ATOMIC_RELEASE);
	syscall(426, ring, 1, 0, 0, NULL, 0);
}

static void accept_one(void)
{
	accept(listener, NULL, NULL);
}

static void connect_one(void)
{
	struct sockaddr_un address;
	socklen_t size = sizeof(address);
	int client = socket(AF_UNIX, SOCK_STREAM, 0);

	getsockname(listener, (struct sockaddr *)&address, &size);
	connect(client, (struct sockaddr *)&address, size);
}

static void open_reader(void)
{
	close(open(place, O_RDONLY));
}

static void open_writer(void)
{
	close(open(place, O_WRONLY));
}

static void wait_signal(void)
{
	sigset_t wanted;
	int number;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigwait(&wanted, &number);
}

static void send_signal(void)
{
	kill(getpid(), SIGUSR1);
}

static pid_t child;

static void wait_child(void)
{
	waitpid(child, NULL, 0);
}

static void end_child(void)
{
	kill(child, SIGKILL);
}

static void sleep_shortly(void)
{
	struct timespec time = {0, 50000000};

	nanosleep(&time, NULL);
}

static void nothing(void)
{
}

/* ---- each of them ---- */

static const struct way {
	const char *name;
	void (*wait)(void), (*end)(void);
} ways[] = {
	{"read", read_pipe, write_pipe},
	{"poll", poll_pipe, write_pipe},
	{"epoll_wait", wait_epoll, write_pipe},
	{"epoll_pwait2", wait_epoll2, write_pipe},
	{"splice", splice_pipe, write_pipe},
	{"tee", tee_pipe, write_pipe},
	{"write", fill_pipe, drain_pipe},
	{"vmsplice", gift_pipe, drain_some},
	{"F_OFD_SETLKW", lock_description, unlock_description},
	{"flock", lock_file, unlock_file},
	{"semop", take_semaphore, give_semaphore},
	{"msgrcv", take_message, give_message},
	{"mq_receive", take_queued, give_queued},
	{"futex", wait_futex, wake_futex},
	{"futex_waitv", wait_futexes, wake_futex},
	{"io_uring_enter", wait_ring, feed_ring},
	{"accept", accept_one, connect_one},
	{"open", open_reader, open_writer},
	{"sigwait", wait_signal, send_signal},
	{"wait4", wait_child, end_child},
	{"nanosleep", sleep_shortly, nothing},
};

static void prepare(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 64};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct epoll_event event = {.events = EPOLLIN};
	char name[32];
	sigset_t user;

	(void)!pipe(ends);
	(void)!pipe(others);
	file = open(place, O_RDWR | O_CREAT, 0600);
	second = open(place, O_RDWR);
	unlink(place);
	fcntl(file, F_OFD_SETLKW, &lock);
	flock(file, LOCK_EX);
	mkfifo(place, 0600);
	set = epoll_create1(0);
	epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	messages = msgget(IPC_PRIVATE, 0600);
	snprintf(name, sizeof(name), "/waits-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	mq_unlink(name);
	memset(&of_ring, 0, sizeof(of_ring));
	ring = (int)syscall(425, 4, &of_ring); /* io_uring_setup */
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t));
	listen(listener, 1);
	word = 0;
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	sigprocmask(SIG_BLOCK, &user, NULL);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
}

static void clean(void)
{
	semctl(semaphore, 0, IPC_RMID);
	msgctl(messages, IPC_RMID, NULL);
	unlink(place);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static atomic_int waited;

static void *wait_in_thread(void *way)
{
	((const struct way *)way)->wait();
	atomic_store(&waited, 1);
	return NULL;
}

static void try_way(const struct way *way)
{
	struct timespec while_it_waits = {0, 20000000};
	pthread_t thread;
	int early;

	atomic_store(&waited, 0);
	pthread_create(&thread, NULL, wait_in_thread, (void *)(uintptr_t)way);
	nanosleep(&while_it_waits, NULL);
	early = atomic_load(&waited) && way->end != nothing;
	way->end();
	pthread_join(thread, NULL);
	printf("%s%s\n", way->name, early ? ": did not wait" : "");
}

int main(int argc, char **argv)
{
	snprintf(place, sizeof(place), "/tmp/waits-%d", (int)getpid());
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (argc > 1 && strcmp(argv[1], ways[i].name) != 0)
			continue;
		prepare();
		try_way(&ways[i]);
		clean();
		fflush(stdout);
	}
	return 0;
}
