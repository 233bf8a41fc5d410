// SPDX-License-Identifier: MIT
// The report of a run.
const HEAT_ROWS = 40, HEAT_COLUMNS = 32;

// ---- regions ----

const regions = regionsOf(report.regions), whole = regions[0];
const metricNames = report.metrics.map(metric => metric.name);
const countNames = report.events;

function pathName(region) {
	return region.path.length ? region.path.join(' / ') : 'whole run';
}

const rows = regions.map((region, order) => ({
	region, order, key: JSON.stringify(region.path), name: plain(pathName(region)),
	leaf: plain(region.path.length ? region.path[region.path.length - 1] : 'whole run'),
}));

// ---- what is a region's own ----

const answers = report.answers || [];
const keyOf = path => JSON.stringify(path);
const inside = new Map(rows.map(row => [row.key, []]));
for (const row of rows)
	if (row.region.path.length)
		inside.get(keyOf(row.region.path.slice(0, -1)))?.push(row.region);

// Without the regions inside, as a share of the whole run's.
function ownShare(row, of) {
	const all = of(whole), parts = [of(row.region), ...inside.get(row.key).map(of)];
	const missing = [all, ...parts].find(v => !v || v.value === null);
	if (missing || !all.value)
		return {value: null, status: 'unavailable', reason: missing ? missing.reason : 'the whole run has none'};
	const own = parts.slice(1).reduce((rest, v) => rest - v.value, parts[0].value);
	return {value: Math.max(0, own) / all.value, status: worst(parts), reason: null};
}

function ownColumn(name, of) {
	return {id: 'own:' + name, title: words(name) + ', self', unit: 'ratio', kind: 'own', answers: 2, of: row => ownShare(row, of),
		tip: 'of the whole run, what the region has itself, without the regions inside.\n' + meaningOf(name)};
}

// What the text report's table has: costs, and which levels serve; of other groups nothing.
const first = answers.find(answer => answer.ranked_by) || {};
const hasServed = metricNames.includes('served_l1') && whole.metrics.served_l1.value !== null;
const ownColumns = hasServed ? [
	...(metricNames.includes(first.ranked_by) ? [ownColumn(first.ranked_by, r => r.metrics[first.ranked_by])] : []),
	...(countNames.includes('instructions') ? [ownColumn('instructions', r => r.counts.instructions)] : []),
] : [];
const ANSWERS = hasServed ? ['served_l1', 'served_l2', 'served_l3', 'served_memory', 'l1d_mpki'] : [];

// from(): of a region, in all threads or in one; of(): of a row; at: in the table of regions.
const columns = [
	{id: 'calls', title: 'calls', answers: hasServed && 1, from: r => ({value: r.calls, status: 'exact'})},
	{id: 'time_s', title: 'time', unit: 's', at: 0, from: r => r.time_s},
	...ownColumns,
	...report.metrics.map(({name, unit}, i) => ({id: name, name, title: words(name), kind: 'metric', unit, at: FIRST_METRIC + i,
		from: r => r.metrics[name], answers: ANSWERS.includes(name) && 3 + ANSWERS.indexOf(name), tip: meaningOf(name)})),
	...countNames.map((name, i) => ({id: '#' + name, name, title: words(name), kind: 'count', at: FIRST_COUNT + i,
		from: r => r.counts[name], tip: meaningOf(name)})),
].map(column => ({of: row => column.from(row.region), ...column}));
const perThread = columns.filter(column => column.from);
const counted = columns.filter(column => column.at === undefined ? rows.some(row => column.of(row).value !== null)
	: hasValue(report.regions, column.at));

// ---- the head ----

function ends() {
	const seen = new Map();
	for (const process of report.processes) {
		const {how, code} = process.exit;
		const text = code === null ? how : how + ' ' + code;
		seen.set(text, (seen.get(text) || 0) + 1);
	}
	return [...seen].map(([text, n]) => (seen.size > 1 ? n + ' × ' : '') + text).join(', ');
}

function head() {
	const command = plain(report.command.join(' '));
	const simulated = report.engine.name === 'sim';
	const threads = report.processes.reduce((sum, p) => sum + p.threads.length, 0);

	document.title = 'cachepeek: ' + command;
	$('title').textContent = command || 'cachepeek';
	showAnswer(answers);
	showProvenance(simulated, (simulated ? 'Simulated: these are counts of a simulated PMU, exact for the machine below, not of this processor.'
		: report.engine.name === 'perf' ? 'Counted by the processor and the kernel (perf events).' : 'Nothing was counted.')
		+ (report.engine.why ? '  Why: ' + plain(report.engine.why) + '.' : ''));
	fact('machine', report.machine.description || 'not known');
	fact('counted', {u: 'user mode', k: 'kernel mode', uk: 'user and kernel mode'}[report.engine.domain]
		|| report.engine.domain || '');
	if (report.engine.limits)
		fact('limits', report.engine.limits);
	fact('ran', report.ranks ? report.ranks.recorded + (report.ranks.of ? ' of ' + report.ranks.of : '') + ' ranks, '
		+ count(report.ranks.processes, 'process', 'processes') + ', '
		+ count(whole.threads, 'thread', 'threads')
		: count(report.processes.length, 'process', 'processes') + ', '
		+ count(threads, 'thread', 'threads') + '; ' + ends());
	if (metricNames.some(name => whole.metrics[name].status === 'estimated'))
		fact('latencies', latencyFact(report));
	fact('groups', report.groups.join(', ') || 'none');
	fact('written by', 'cachepeek ' + report.cachepeek);
	showWarnings(report.warnings);
}

// ---- the table ----

const lookFirst = first.look_first ? keyOf(first.look_first) : null;

function regionCell(row, natural) {
	const depth = natural ? row.region.path.length : 0;
	return markedCell(row.name, depth ? row.leaf : row.name, depth && .5 + depth, row.key === lookFirst && (row.region.path.length
		? 'of the regions, the one with the most ' + words(first.ranked_by) + ' of its own'
		: 'outside of the regions there is more ' + words(first.ranked_by) + ' than in each of them'));
}

const table = grid({table: $('regions'), filter: $('filter'), found: $('found'), pages: $('region-pages'), rows,
	what: 'region', many: 'regions', columns: () => picked(counted), all: counted, first: regionCell,
	fill: (row, column) => column.id === 'calls' && !row.region.path.length ? make('td', {title: 'the whole run is not called'})
		: cell(column.of(row), column.unit),
	rowClass: row => row.key === lookFirst && 'worst', changed: () => { drawBars(); drawHeat(); }});

const showRegion = path => table.show(rows.find(row => row.key === keyOf(path)));

// ---- where references were served ----

// Where nothing is behind L2, that is the last level of the whole run.
const l2IsLast = rows.length > 0 && lastIsL2(rows[0].region.counts);
// The costliest first; without costs those with the most references.
const cost = row => ownColumns.length ? ownColumns[0].of(row).value : null;
const loads = row => ({name: row.name, order: row.order, counts: row.region.counts, metrics: row.region.metrics, l2IsLast, weight: cost(row), whole: !row.region.path.length});

offerCosts(rows.map(loads));

function drawBars() {
	drawServed(table.shown.map(loads), ['region', 'regions'], rows.length > 1 ? '  Nested regions are included.'
		: '  Which functions and lines: cachepeek dcache -o page.html ' + plain(report.command.join(' ')) + '.', true);
}

// ---- threads ----

const threads = report.processes.flatMap(process => process.threads.map(thread => ({process, thread,
	regions: new Map(thread.regions ? regionsOf(thread.regions).map(region => [keyOf(region.path), region]) : [])})));
let heatPage = 0;

function threadName({process, thread}) {
	const rank = process.rank === null ? '' : 'rank ' + process.rank + ' ';
	return rank + (report.processes.length > 1 ? process.pid + '/' : '')
		+ (thread.tid === null ? count(thread.threads, 'ended thread', 'ended threads') : thread.tid);
}

// From the mean: twice the mean, or nothing, is as strong as it gets.
function colourDeviation(td, deviation) {
	td.dataset.deviation = deviation;
	td.title += ' (' + (deviation < 0 ? '−' : '+') + full(Math.abs(deviation), 'ratio') + ' of the mean)';
	td.style.backgroundColor = 'rgba(var(--' + (deviation < 0 ? 'cold' : 'heat') + '),' + (0.5 * Math.min(1, Math.abs(deviation))).toFixed(3) + ')';
}

function drawHeat() {
	const column = columns.find(one => one.id === $('heat-of').value);

	$('threads').hidden = !column || threads.length < 2; // one: the table above has it
	if ($('threads').hidden)
		return;
	const at = (thread, row) => {
		const region = thread.regions.get(row.key);
		return region ? column.from(region) : null;
	};
	const some = table.shown.slice(0, HEAT_ROWS), part = threads.slice(heatPage * HEAT_COLUMNS, (heatPage + 1) * HEAT_COLUMNS);
	$('heat-note').textContent = column.title + (column.unit && column.unit !== 'ratio' ? ' in ' + unitName(column.unit) : '')
		+ ' per thread.  Orange is above the mean of the threads in the region, blue below; the stronger, the further'
		+ (table.shown.length > some.length ? '.  The first ' + some.length + ' regions of the table above' : '') + '.';
	$('heat').replaceChildren(
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'region'), ...part.map(thread =>
			make('th', {scope: 'col', title: plain(thread.process.exe + ' ' + (thread.thread.name || ''))}, threadName(thread),
				make('br'), make('small', {}, plain(thread.thread.name || '')))))),
		make('tbody', {}, ...some.map(row => {
			const known = threads.map(thread => (at(thread, row) || {}).value ?? null).filter(value => value !== null);
			const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
			return make('tr', {}, make('th', {scope: 'row', title: row.name}, row.name), ...part.map(thread => {
				const v = at(thread, row);
				if (!v)
					return make('td', {title: 'the thread was not in this region'}, '');
				const td = cell(v, column.unit, (n, unit) => unit === 'ratio' ? full(n, unit) : short(n));
				if (v.value !== null && mean > 0)
					colourDeviation(td, v.value / mean - 1);
				return td;
			}));
		})));
	pages($('heat-pages'), heatPage, HEAT_COLUMNS, threads.length, to => { heatPage = to; drawHeat(); });
}

// ---- the ranks of a job ----

const RANK_ROWS = 64;
let rankPage = 0;

// Of a cell of the table of ranks: how far it is from their mean.
function rankCell(v, unit, all) {
	const td = cell(v, unit), known = all.map(one => one.value).filter(value => value !== null);
	const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
	if (v.value !== null && mean > 0 && known.length > 1)
		colourDeviation(td, v.value / mean - 1);
	return td;
}

function inMpi({time_s, mpi_s}) {
	if (mpi_s.value === null || time_s.value === null)
		return mpi_s.value === null ? mpi_s : time_s;
	return time_s.value > 0 ? {...mpi_s, value: mpi_s.value / time_s.value}
		: {value: null, status: 'unavailable', reason: 'no time passed'};
}

function drawRanks() {
	const all = report.by_rank || [], part = all.slice(rankPage * RANK_ROWS, (rankPage + 1) * RANK_ROWS);
	const exact = value => ({value, status: 'exact', reason: null});
	const some = regions.filter(region => region.entered_by);

	$('ranks').hidden = !all.length;
	$('ranks-note').textContent = (all.some(rank => rank.mpi_s.value !== null) ? 'Who waits for others is in MPI long; who is there least is waited for.  ' : '')
		+ 'Orange is above the mean of the ranks, blue below.'
		+ (some.length ? '  Regions of some ranks only: ' + some.map(region =>
			plain(region.path.join(' / ')) + ' (' + region.entered_by.join(', ') + ')').join('; ') + '.' : '');
	// A column that no rank has a value of is not there.
	const shown = [['time', rank => rank.time_s, 's'], ['in MPI', rank => rank.mpi_s, 's'], ['of its time', inMpi, 'ratio'],
		...Object.keys((all[0] || {}).counts || {}).map(name => [words(name), rank => rank.counts[name]])]
		.filter(([, of]) => all.some(rank => of(rank).value !== null));
	$('ranks-table').replaceChildren(
		make('thead', {}, make('tr', {}, ...['rank', 'processes', 'threads', ...shown.map(([title]) => title)].map(
			title => make('th', {scope: 'col'}, title)))),
		make('tbody', {}, ...part.map(rank => make('tr', {}, make('th', {scope: 'row'}, String(rank.rank)),
			cell(exact(rank.processes)), cell(exact(rank.threads)), ...shown.map(([, of, unit]) => rankCell(of(rank), unit, all.map(of)))))));
	pages($('ranks-pages'), rankPage, RANK_ROWS, all.length, to => { rankPage = to; drawRanks(); });
}

// ---- all of it ----

function start() {
	head();
	startColumns(counted);
	showMeanings(columns.map(column => column.name));
	const heated = counted.filter(column => perThread.includes(column));
	$('heat-of').append(...heated.map(column => make('option', {value: column.id}, column.title)));
	$('heat-of').value = telling(heated);
	startThemes(() => { drawBars(); drawCourse(); drawCurve(); });
	startCourse();
	table.refresh();
	drawRanks();
	drawCourse();
	drawCurve();
	showSure([['calls', {status: 'exact'}, rows.length],
		...perThread.filter(column => column.at !== undefined).flatMap(column =>
			statesOf(report.regions, column.at).map(([state, n]) => [column.title, state, n]))],
		rows.length, 'region', 'regions');
	$('columns').addEventListener('change', table.draw);
	$('served-scale').addEventListener('change', drawBars);
	$('heat-of').addEventListener('change', drawHeat);
}

start();
