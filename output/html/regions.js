// SPDX-License-Identifier: MIT
// ---- regions, which come as tables (output/json_table.h) ----

const TABLE = Symbol('table'), CELLS = Symbol('cells');
const FIRST_COUNT = 1, FIRST_METRIC = FIRST_COUNT + report.events.length;

const stateOf = (table, at) => typeof at === 'number' ? table.states[at] : at;

// There may be thousands of regions, and a screen of them is shown: a value becomes an object
// when it is asked for.
function valueAt(table, cells, i) {
	const it = cells[i], [value, at] = Array.isArray(it) ? it : [it, table.columns[i]];
	const {status, coverage, error, reason} = stateOf(table, at);
	return {value, status, coverage, error, reason};
}

// What has a value of each name.
function namesToCells(names, first) {
	const view = Object.create(null);
	names.forEach((name, i) => Object.defineProperty(view, name,
		{get() { return valueAt(this[TABLE], this[CELLS], first + i); }}));
	return view;
}

const countsView = namesToCells(report.events, FIRST_COUNT);
const metricsView = namesToCells(report.metrics.map(metric => metric.name), FIRST_METRIC);

function viewOf(view, table, cells) {
	const it = Object.create(view);
	it[TABLE] = table;
	it[CELLS] = cells;
	return it;
}

function regionsOf(table) {
	return table.rows.map(([path, calls, threads, entered_by, cells]) => ({path, calls, threads, entered_by,
		get time_s() { return valueAt(table, cells, 0); },
		counts: viewOf(countsView, table, cells), metrics: viewOf(metricsView, table, cells)}));
}

// What is known of the values of a column, and of how many rows that is.
function statesOf(table, i) {
	const rows = new Map();
	for (const {4: cells} of table.rows) {
		const state = stateOf(table, Array.isArray(cells[i]) ? cells[i][1] : table.columns[i]);
		rows.set(state, (rows.get(state) || 0) + 1);
	}
	return [...rows];
}

const hasValue = (table, i) => table.rows.some(({4: cells}) => (Array.isArray(cells[i]) ? cells[i][0] : cells[i]) !== null);
