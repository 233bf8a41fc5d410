// SPDX-License-Identifier: MIT
//
// Regions in C++ threads, ended by leaving the scope:
//
//     c++ -O1 -pthread $(pkg-config --cflags cachepeek) -o threads threads.cc
//     LD_PRELOAD=libcachepeek.so ./threads
#include <cstdio>
#include <thread>
#include <vector>

#include <cachepeek.h>

class Region
{
      public:
	explicit Region(const char *name) : region(cachepeek_region_register(name))
	{
		cachepeek_begin(region);
	}
	~Region()
	{
		cachepeek_end(region);
	}
	Region(const Region &) = delete;
	Region &operator=(const Region &) = delete;

      private:
	cachepeek_region region;
};

static void work(std::vector<long> &numbers)
{
	Region region("work");

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] += static_cast<long>(i);
}

int main()
{
	std::vector<std::vector<long>> numbers(4, std::vector<long>(20000));
	std::vector<std::thread> threads;

	for (auto &share : numbers)
		threads.emplace_back(work, std::ref(share));
	for (auto &thread : threads)
		thread.join();
	std::printf("%ld\n", numbers[3][19999]);
	return 0;
}
