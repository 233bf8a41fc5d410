// SPDX-License-Identifier: MIT
// Objects with thread storage whose destructors work and print.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static unsigned long total;

struct counted {
	std::vector<unsigned long> numbers;
	~counted()
	{
		std::lock_guard<std::mutex> guard(lock);
		for (unsigned long number : numbers)
			total += number;
	}
};

static thread_local counted mine;

static void work(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		mine.numbers.push_back(i);
}

int main()
{
	std::vector<std::thread> threads;

	for (unsigned long i = 0; i < 6; i++)
		threads.emplace_back(work, 1000 * (i + 1));
	for (std::thread &thread : threads)
		thread.join();
	work(10);
	std::printf("%lu\n", total);
	return total == 45489500 ? 0 : 1;
}
