/* SPDX-License-Identifier: MIT
 *
 * The tables of profiles in text: the columns of the measurement, and what they are
 * about on the right.
 */
#ifndef CACHEPEEK_TOOLS_GRID_H
#define CACHEPEEK_TOOLS_GRID_H

#include "base/out.h"
#include "tools/profile/model/rows.h"

/* Columns that no measurement has. */
#define CP_GRID_OWN 8

/* Lines of cells, the last of which is text of any length on the left. */
struct cp_grid {
	const struct cp_profile_view *view;
	size_t ncolumns, nlines, room;
	const struct cp_column *columns[CP_GROUP_MAX_COLUMNS];
	const char ***lines; /* [line][column]; NULL: only the text */
	const char **texts;
};

struct cp_arena *cp_grid_arena(const struct cp_grid *grid);

/* %Tot, Cum%, and the columns of the measurement. */
struct cp_grid cp_grid_new(const struct cp_profile_view *view);
void cp_grid_headings(struct cp_grid *grid, const char *what);

/* The cells of a new line, for the caller to fill; NULL without cells. */
const char **cp_grid_line(struct cp_grid *grid, bool cells, const char *text);
/* The cells of the measurement. */
void cp_grid_cells(struct cp_grid *grid, const char **line, const struct cp_tally *tally);
const char *cp_grid_cell(const struct cp_profile_view *view, const char *name,
	const struct cp_tally *tally);
const char *cp_grid_percent(const struct cp_grid *grid, double value);
/* The row's share, with its interval where it was sampled. */
const char *cp_grid_share(
	const struct cp_grid *grid, const struct cp_rows *rows, const struct cp_row *row);

void cp_grid_print(struct cp_out *out, const struct cp_grid *grid);

size_t cp_grid_width(const char *cell); /* in columns of a terminal */
void cp_grid_blanks(struct cp_out *out, size_t n);

#endif
