/* SPDX-License-Identifier: MIT
 *
 * What simdjson reads of the file, with the code that it chooses for this processor.
 */
#include <cstdio>
#include <cstring>
#include <simdjson.h>

int main(int argc, char **argv)
{
	simdjson::dom::parser parser;
	simdjson::padded_string text = simdjson::padded_string::load(argv[1]);
	simdjson::dom::element document;
	double sum = 0;
	size_t strings = 0;

	if (argc > 2) {
		std::puts(simdjson::get_active_implementation()->name().c_str());
		return 0;
	}
	if (parser.parse(text).get(document))
		return 1;
	for (simdjson::dom::element one : document.get_array()) {
		for (auto field : one.get_object())
			if (field.value.is_string())
				strings += std::strlen(field.value.get_c_str());
			else if (field.value.is_number())
				sum += field.value.get_double();
	}
	std::string shortest = simdjson::minify(document);
	std::printf("%a %zu %zu %d\n", sum, strings, shortest.size(),
		simdjson::validate_utf8(text));
	return 0;
}
