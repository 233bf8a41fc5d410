/* SPDX-License-Identifier: MIT
 *
 * Counts 20,000 words in a hash map, looks each up again, and takes half of them out.
 */
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>

int main()
{
	std::unordered_map<std::string, int> count;
	std::uint32_t state = 1, words = 20000;
	long found = 0;

	for (std::uint32_t i = 0; i < 3 * words; i++) {
		state = state * 1664525 + 1013904223;
		count["a word that is number " + std::to_string(state % words)]++;
	}
	for (std::uint32_t i = 0; i < words; i++)
		if (count.find("a word that is number " + std::to_string(i)) !=
			count.end())
			found++;
	for (std::uint32_t i = 0; i < words; i += 2)
		count.erase("a word that is number " + std::to_string(i));
	std::printf("%ld %zu\n", found, count.size());
	return 0;
}
