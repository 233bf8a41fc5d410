// SPDX-License-Identifier: MIT
// Tasks of every kind: what they are given, and in which order, is as without us.
#include <omp.h>

#include <cstdint>
#include <cstdio>

struct counted {
	int value;
	static int copies;
	explicit counted(int v) : value(v)
	{
	}
	counted(const counted &other) : value(other.value)
	{
		__atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
	}
};
int counted::copies;

struct alignas(64) large {
	int at[32];
};

static long fib(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a) firstprivate(n) if (n > 8)
	a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

int main()
{
	long f = 0, sum = 0, loop = 0;
	unsigned long long wide = 0;
	int bad = 0, x = 0, y = 0, in_final = 0, fulfilled = 0;
	counted c(5);
	large big;

	for (int i = 0; i < 32; i++)
		big.at[i] = i;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		f = fib(16);
		for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(c, i)
			{
				if (c.value != 5)
#pragma omp atomic
					bad++;
#pragma omp atomic
				sum += i;
			}
#pragma omp task firstprivate(big)
			{
				bool wrong = reinterpret_cast<uintptr_t>(&big) % 64;

				for (int k = 0; k < 32; k++)
					wrong |= big.at[k] != k;
				if (wrong)
#pragma omp atomic
					bad++;
			}
		}
#pragma omp task depend(out : x) shared(x)
		x = 1;
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
		y = x + 1;
#pragma omp taskwait
#pragma omp taskloop grainsize(3) reduction(+ : loop) firstprivate(c)
		for (int i = 0; i < 100; i++)
			loop += i * c.value;
#pragma omp taskloop num_tasks(7) shared(wide)
		for (unsigned long long i = 0; i < 100; i++)
#pragma omp atomic
			wide += i;
#pragma omp task final(1) shared(in_final)
		in_final = omp_in_final();
#pragma omp taskgroup
		for (int i = 0; i < 4; i++)
#pragma omp task untied priority(3)
		{
#pragma omp taskyield
		}
#pragma omp taskwait
	}
#ifndef NO_DETACH
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		omp_event_handle_t event;

#pragma omp task detach(event) shared(fulfilled)
		fulfilled = 1;
		omp_fulfill_event(event);
	}
#endif
	std::printf("%ld %ld %ld %llu %d %d %d %d\n", f, sum, loop, wide, y, in_final,
		bad, fulfilled);
	return 0;
}
