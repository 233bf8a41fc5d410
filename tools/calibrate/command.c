/* SPDX-License-Identifier: MIT */
#include "tools/calibrate/command.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/machine/host.h"
#include "tools/calibrate/calibrate.h"
#include "tools/shared/output.h"

static void print_figure(const struct cp_calibration *calibration, enum cp_figure figure)
{
	if (isnan(calibration->value[figure])) {
		printf("  %-24s %10s\n", cp_figure_title(figure), "-");
		return;
	}
	printf("  %-24s %10.*f %-18s", cp_figure_title(figure),
		cp_figure_decimals(calibration->value[figure]),
		calibration->value[figure], cp_figure_unit(figure));
	if (isnan(calibration->spread[figure]))
		printf(" %6s", calibration->rounds < 2 ? "once" : "-");
	else
		printf(" %4.0f %%", calibration->spread[figure] * 100);
	printf("%s%s\n", cp_figure_is_stable(calibration, figure) ? "" : "  not stable",
		calibration->at_least[figure] ? "  at least that" : "");
}

/* One line for what the file calls assumed. */
static void print_unstable(const struct cp_calibration *calibration)
{
	unsigned unstable = 0, none = 0;

	for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
		if (isnan(calibration->value[figure]))
			none++;
		else if (!cp_figure_is_stable(calibration, (enum cp_figure)figure))
			unstable++;
	if (unstable || none)
		printf("%u of %u figures are not stable, %u could not be measured: the "
		       "file assumes what time needs of them\n",
			unstable, (unsigned)CP_NFIGURES, none);
}

static void print_table(const struct cp_calibration *calibration)
{
	printf("\nmeasured in %u round%s, %.1f s, with %zu MiB of %s pages\n"
	       "  %-24s %10s %-18s spread\n",
		calibration->rounds, calibration->rounds == 1 ? "" : "s",
		calibration->seconds, calibration->bytes >> 20,
		calibration->huge ? "huge" : "small", "", "", "");
	for (unsigned figure = 0; figure < CP_NFIGURES; figure++)
		print_figure(calibration, (enum cp_figure)figure);
	print_unstable(calibration);
	if (!calibration->sized)
		printf("neither sysfs nor CPUID tells the sizes of caches: what is measured "
		       "by them is assumed\n");
}

static void add_table(const struct cp_calibration *calibration, json_t *document)
{
	json_t *figures = json_array();

	for (unsigned i = 0; i < CP_NFIGURES; i++) {
		enum cp_figure figure = (enum cp_figure)i;
		bool known = !isnan(calibration->value[i]);

		json_array_append_new(figures,
			json_pack("{ss ss so so sb sb}", "figure", cp_figure_name(figure),
				"unit", cp_figure_unit(figure), "value",
				known ? json_real(calibration->value[i]) : json_null(),
				"spread",
				isnan(calibration->spread[i])
					? json_null()
					: json_real(calibration->spread[i]),
				"stable", cp_figure_is_stable(calibration, figure),
				"at_least", calibration->at_least[figure]));
	}
	json_object_set_new(document, "calibration",
		json_pack("{si sf sb so}", "rounds", (int)calibration->rounds, "seconds",
			calibration->seconds, "huge_pages", calibration->huge, "figures",
			figures));
}

/* By the local time: of a file for people. */
static void write_date(char *to, size_t size)
{
	time_t now = time(NULL);
	struct tm date;

	if (!localtime_r(&now, &date) || !strftime(to, size, "%Y-%m-%d", &date))
		snprintf(to, size, "unknown");
}

static int write_text(const char *file, const char *text)
{
	struct cp_output output;
	char error[256];

	if (!text) {
		fprintf(stderr, "cachepeek: out of memory\n");
		return 1;
	}
	if (cp_calibration_check(text, error, sizeof(error)) < 0) {
		fprintf(stderr,
			"cachepeek: what was measured "
			"makes no machine: %s; not written\n",
			error);
		return 1;
	}
	if (!cp_output_open(&output, file))
		return 1;
	cp_out_text(&output.out, text);
	return cp_output_close(&output);
}

/* Where too little could be measured. */
static void print_untold(const char *text)
{
	struct cp_machine machine = cp_machine_defaults;
	char missing[160], error[256];

	if (cp_machine_parse(&machine, "host.machine", text, error, sizeof(error)) < 0)
		return;
	if (!cp_machine_tells_time(&machine, missing, sizeof(missing)))
		printf("no time is predicted by it, for want of %s: calibrate again when "
		       "the machine is quieter\n",
			missing);
	else if (!machine.clock_mhz)
		printf("no seconds are predicted by it, for want of the clock: calibrate "
		       "again when the machine is quieter\n");
}

static int write_machine(
	const struct cp_calibration *calibration, const char *file, bool say)
{
	char date[16], *text;
	int status;

	write_date(date, sizeof(date));
	text = cp_calibration_text(calibration, date);
	status = write_text(file, text);
	if (status == 0 && say)
		print_untold(text);
	free(text);
	return status;
}

int cp_calibrate_command(const char *file, json_t *document)
{
	struct cp_calibration calibration;
	char error[256] = "", usual[PATH_MAX];

	if (!file && !cp_host_file(usual, sizeof(usual))) {
		fprintf(stderr, "cachepeek: neither HOME nor XDG_CONFIG_HOME is set: "
				"name a file with -o\n");
		return 2;
	}
	if (!cp_output_check(file ? file : usual))
		return 1;
	if (cp_calibrate(&calibration, error, sizeof(error)) < 0) {
		fprintf(stderr, "cachepeek: %s\n", error);
		return 1;
	}
	if (document)
		add_table(&calibration, document);
	else
		print_table(&calibration);
	if (write_machine(&calibration, file ? file : usual, !document) != 0)
		return 1;
	if (!document)
		printf("written to %s%s\n", file ? file : usual,
			file ? "" : ", which -m host reads from now on");
	return 0;
}
