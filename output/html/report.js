// SPDX-License-Identifier: MIT
// Draws the report in #report.  Names are only ever set as text.
'use strict';
(() => {
const report = JSON.parse(document.getElementById('report').textContent);
const $ = id => document.getElementById(id);
const statuses = ['exact', 'scaled', 'simulated', 'estimated', 'unavailable'];
const meanings = {
	exact: 'counted, all the time',
	scaled: 'counted part of the time, and extrapolated (±)',
	simulated: 'counted by the simulated PMU, on the simulated machine (italic; hatched in the chart)',
	estimated: 'inferred, without an error bar (~)',
	unavailable: 'not counted (—), which is not 0',
};
const PAGE = 200, BARS = 20, HEAT_ROWS = 40, HEAT_COLUMNS = 32;

function make(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== undefined && value !== null && value !== false)
			node.setAttribute(name, value);
	node.append(...children);
	return node;
}

function worst(values) {
	return statuses[Math.max(0, ...values.map(v => statuses.indexOf(v.status)))];
}

// ---- numbers ----

const SCALES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

function short(number) {
	for (const [size, letter] of SCALES)
		if (Math.abs(number) >= size)
			return (number / size).toPrecision(3) + letter;
	return Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(3)));
}

// Units with a prefix of their own.
const BYTES = {GB: 1e9, MB: 1e6};

function unitName(unit) {
	return unit === 'ratio' ? '%' : unit in BYTES ? 'bytes' : unit;
}

function full(number, unit) {
	if (unit === 'ratio')
		return (100 * number).toFixed(2) + ' %';
	if (unit in BYTES)
		return short(number * BYTES[unit]);
	if (Number.isInteger(number))
		return number.toLocaleString('en-US');
	return Math.abs(number) >= 1e5 ? Math.round(number).toLocaleString('en-US')
		: String(Number(number.toPrecision(4)));
}

// What a value's cell says: the number, and where it comes from.
function explain(v, unit) {
	if (v.value === null)
		return 'unavailable: ' + (v.reason || 'no reason is given');
	let text = full(v.value, unit) + (unit && unit !== 'ratio' ? ' ' + unitName(unit) : '') + ', ' + v.status;
	if (v.status === 'scaled')
		text += ': counted ' + full(v.coverage, 'ratio') + ' of the time'
			+ (v.error === null ? '' : ', ± ' + full(v.error));
	return v.reason ? text + ': ' + v.reason : text;
}

function cell(v, unit, write) {
	const td = make('td', {class: v.status, title: explain(v, unit)});
	if (v.value === null) {
		td.textContent = '—';
	} else {
		td.textContent = (write || full)(v.value, unit);
		td.dataset.value = v.value;
	}
	return td;
}

// ---- regions ----

const metricNames = Object.keys(report.regions.length ? report.regions[0].metrics : {});
const countNames = report.events;

function pathName(region) {
	return region.path.length ? region.path.join(' / ') : 'whole run';
}

// Without what could end the line or turn it round.
function plain(text) {
	return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, c =>
		'\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

const rows = report.regions.map((region, order) => ({
	region, order, key: JSON.stringify(region.path), name: plain(pathName(region)),
	leaf: plain(region.path.length ? region.path[region.path.length - 1] : 'whole run'),
}));

const columns = [
	{id: 'calls', title: 'calls', of: r => ({value: r.calls, status: 'exact'})},
	{id: 'time_s', title: 'time', unit: 's', of: r => r.time_s},
	...metricNames.map(name => ({id: name, title: name, kind: 'metric', of: r => r.metrics[name],
		unit: report.regions[0].metrics[name].unit})),
	...countNames.map(name => ({id: '#' + name, title: name, kind: 'count', of: r => r.counts[name]})),
];

// ---- the head ----

function fact(name, text) {
	$('facts').append(make('dt', {}, name), make('dd', {}, text));
}

function ends() {
	const seen = new Map();
	for (const process of report.processes) {
		const {how, code} = process.exit;
		const text = code === null ? how : how + ' ' + code;
		seen.set(text, (seen.get(text) || 0) + 1);
	}
	return [...seen].map(([text, n]) => (seen.size > 1 ? n + ' × ' : '') + text).join(', ');
}

function count(n, one, many) {
	return n.toLocaleString('en-US') + ' ' + (n === 1 ? one : many);
}

function head() {
	const command = plain(report.command.join(' '));
	const simulated = report.engine.name === 'sim';
	const threads = report.processes.reduce((sum, p) => sum + p.threads.length, 0);
	const provenance = $('provenance');

	document.title = 'cachepeek: ' + command;
	$('title').textContent = command || 'cachepeek';
	provenance.classList.toggle('simulated', simulated);
	provenance.textContent = (simulated ? 'Simulated: these are counts of a simulated PMU, not of this processor. '
		: report.engine.name === 'perf' ? 'Hardware and kernel counters (perf events). ' : 'Nothing was counted. ')
		+ (report.engine.why || '');
	fact('machine', report.machine.description || 'not known');
	fact('counted', {u: 'user mode', k: 'kernel mode', uk: 'user and kernel mode'}[report.engine.domain]
		|| report.engine.domain || '');
	if (report.engine.limits)
		fact('limits', report.engine.limits);
	fact('ran', count(report.processes.length, 'process', 'processes') + ', '
		+ count(threads, 'thread', 'threads') + '; ' + ends());
	fact('groups', report.groups.join(', ') || 'none');
	fact('written by', 'cachepeek ' + report.cachepeek);
	$('warnings').hidden = !report.warnings.length;
	$('warnings').querySelector('ul').append(...report.warnings.map(text => make('li', {}, plain(text))));
}

// ---- where references were served ----

// Where nothing is behind L2, that is the last level, and counted under both names.
function sameTotals(one, other) {
	const counts = report.regions.length ? report.regions[0].counts : {};
	const a = counts[one], b = counts[other];
	return Boolean(a && b && a.value !== null && a.value === b.value);
}
const l2IsLast = sameTotals('l2_accesses', 'llc_accesses') && sameTotals('l2_misses', 'llc_misses');

// Each level: what it served, from a region's counts.
const levels = [
	{name: 'L1D', colour: '--l1', from: ['l1d_accesses', 'l1d_misses']},
	{name: 'L2', colour: '--l2', from: ['l2_accesses', 'l2_misses']},
	{name: 'L3', colour: '--l3', from: ['llc_accesses', 'llc_misses']},
	{name: 'memory', colour: '--mem', from: ['llc_misses']},
].filter(level => level.name !== 'L3' || !l2IsLast);

function served(region, level) {
	const inputs = level.from.map(name => region.counts[name]
		|| {value: null, status: 'unavailable', reason: name + ' was not counted in this run'});
	const missing = inputs.find(v => v.value === null);
	if (missing)
		return {value: null, status: 'unavailable', reason: missing.reason};
	const value = inputs.length > 1 ? inputs[0].value - inputs[1].value : inputs[0].value;
	if (value < 0)
		return {value: null, status: 'unavailable', reason: 'more misses than accesses were counted'};
	return {value, status: worst(inputs), reason: null, coverage: Math.min(...inputs.map(v => v.coverage)), error: null};
}

function css(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A simulated bar is hatched.
function fill(context, colour, simulated) {
	if (!simulated)
		return colour;
	const tile = make('canvas', {width: 8, height: 8}), pen = tile.getContext('2d');
	pen.fillStyle = colour;
	pen.fillRect(0, 0, 8, 8);
	pen.strokeStyle = css('--page');
	pen.globalAlpha = 0.45;
	pen.lineWidth = 1.5;
	pen.beginPath();
	for (const x of [-8, 0, 8]) {
		pen.moveTo(x, 8);
		pen.lineTo(x + 8, 0);
	}
	pen.stroke();
	return context.createPattern(tile, 'repeat');
}

let chart = null;

function servedRows() {
	const known = shown.filter(row => levels.some(level => served(row.region, level).value !== null));
	const weight = row => levels.reduce((sum, level) => sum + (served(row.region, level).value || 0), 0);
	return known.map(row => [weight(row), row]).sort((a, b) => b[0] - a[0] || a[1].order - b[1].order)
		.slice(0, BARS).map(pair => pair[1]);
}

function servedNote(bars) {
	const absent = levels.filter(level => bars.length && bars.every(row => served(row.region, level).value === null));
	let text = 'References per level that found their line there.  Outer levels also serve instruction fetches,'
		+ ' and hardware prefetches where there are any.  Nested regions are included.';
	if (!bars.length)
		return 'Not counted in this run: it takes the group cache.';
	if (l2IsLast)
		text += '  L2 is the last level.';
	if (shown.length > bars.length)
		text += '  The ' + bars.length + ' regions with the most references.';
	for (const level of absent)
		text += '  ' + level.name + ' is not shown: ' + served(bars[0].region, level).reason + '.';
	return text;
}

function servedTable(bars) {
	const header = make('tr', {}, make('th', {scope: 'col'}, 'region'),
		...levels.map(level => make('th', {scope: 'col'}, level.name)));
	$('served-table').replaceChildren(make('thead', {}, header), make('tbody', {}, ...bars.map(row =>
		make('tr', {}, make('th', {scope: 'row', title: row.name}, row.name),
			...levels.map(level => cell(served(row.region, level)))))));
}

function drawServed() {
	const bars = servedRows(), share = $('served-scale').value === 'share', canvas = $('served');
	const context = canvas.getContext('2d');
	const totals = bars.map(row => levels.reduce((sum, level) => sum + (served(row.region, level).value || 0), 0));

	$('served-note').textContent = servedNote(bars);
	servedTable(bars);
	$('served-box').hidden = !bars.length;
	$('served-box').style.height = 90 + 26 * bars.length + 'px';
	canvas.setAttribute('aria-label', 'Stacked bars, one per region: '
		+ levels.map(level => level.name).join(', ') + '.  The same numbers are in the table below.');
	if (chart)
		chart.destroy();
	chart = null;
	if (!bars.length)
		return;
	Chart.defaults.color = css('--text');
	Chart.defaults.borderColor = css('--line');
	chart = new Chart(context, {
		type: 'bar',
		data: {
			labels: bars.map(row => row.name.length > 28 ? '…' + row.name.slice(-27) : row.name),
			datasets: levels.map(level => {
				const values = bars.map(row => served(row.region, level));
				return {
					label: level.name,
					data: values.map((v, i) => v.value === null ? null
						: share ? (totals[i] ? 100 * v.value / totals[i] : 0) : v.value),
					backgroundColor: values.map(v => fill(context, css(level.colour), v.status === 'simulated')),
					maxBarThickness: 20,
				};
			}),
		},
		options: {
			indexAxis: 'y', animation: false, maintainAspectRatio: false, responsive: true,
			scales: {
				x: {stacked: true, max: share ? 100 : undefined,
					ticks: {callback: v => share ? v + ' %' : short(v)}},
				y: {stacked: true, ticks: {autoSkip: false}},
			},
			plugins: {
				legend: {labels: {generateLabels: c => levels.map((level, i) => ({text: level.name, fontColor: css('--text'),
					fillStyle: css(level.colour), strokeStyle: css(level.colour),
					datasetIndex: i, hidden: !c.isDatasetVisible(i)}))}},
				tooltip: {callbacks: {
					title: items => bars[items[0].dataIndex].name,
					label: item => levels[item.datasetIndex].name + ': '
						+ explain(served(bars[item.dataIndex].region, levels[item.datasetIndex]))}},
			},
		},
	});
}

// ---- over time ----

const LINES = 6, POINTS = 500;
const colours = ['--text', '--l1', '--mem', '--l2', '--l3', '--sim', '--link'];
const timed = report.processes.filter(process => process.series && process.series.lines.length);
let course = null;

function valuesOf(series, line, name) {
	const values = Array(line.first).fill(0).concat(line.counts[name].values);
	return series.ends_s.map((end, i) => values[i]);
}

const sum = values => values.reduce((all, value) => all + (value || 0), 0);

// The whole process, and the regions with the most.
function courseLines(series, name) {
	const lines = series.lines.filter(line => line.counts[name])
		.map(line => ({path: line.path.join(' / ') || 'whole process', whole: !line.path.length,
			status: line.counts[name].status, values: valuesOf(series, line, name)}));
	return lines.filter(line => line.whole).concat(lines.filter(line => !line.whole && sum(line.values) > 0)
		.sort((a, b) => sum(b.values) - sum(a.values)).slice(0, LINES));
}

// Coverage is known of the whole run only.
function courseCell(value, status) {
	if (value === null)
		return make('td', {class: 'unavailable', title: 'unavailable: the PMU was not on it in this interval'}, '—');
	const td = make('td', {class: status, title: full(value) + ', ' + status}, full(value));
	td.dataset.value = value;
	return td;
}

function courseNote(series, lines) {
	let text = 'Counts in intervals of ' + full(series.interval_s) + ' s'
		+ (series.clock === 'simulator' ? ' of the simulator\'s time.' : '.');
	text += '  An execution of a region is in the interval that it ended in.';
	if (series.lines.length > lines.length)
		text += '  The ' + count(lines.length - 1, 'region', 'regions') + ' with the most.';
	if (series.not_recorded)
		text += '  Not recorded: ' + count(series.not_recorded, 'region of a thread', 'regions of threads') + '.';
	return text;
}

function courseTable(series, lines, name) {
	const header = make('tr', {}, make('th', {scope: 'col'}, 'up to'),
		...lines.map(line => make('th', {scope: 'col', title: line.path}, plain(line.path))));
	const every = Math.ceil(series.ends_s.length / POINTS);
	$('course-table').replaceChildren(
		make('caption', {}, name + (every > 1 ? ', the first ' + POINTS + ' intervals' : '')),
		make('thead', {}, header),
		make('tbody', {}, ...series.ends_s.slice(0, POINTS).map((end, i) =>
			make('tr', {}, make('th', {scope: 'row'}, full(end) + ' s'),
				...lines.map(line => courseCell(line.values[i], line.status))))));
}

function drawCourse() {
	$('over-time').hidden = !timed.length;
	if (course)
		course.destroy();
	course = null;
	if (!timed.length)
		return;
	const series = timed[$('course-process').value].series, name = $('course-of').value;
	const lines = courseLines(series, name), simulated = lines.some(line => line.status === 'simulated');
	$('course-note').textContent = courseNote(series, lines);
	courseTable(series, lines, name);
	$('course').setAttribute('aria-label', name + ' over time, a line for the whole process and for each of '
		+ count(lines.length - 1, 'region', 'regions') + '.  The same numbers are in the table below.');
	Chart.defaults.color = css('--text');
	Chart.defaults.borderColor = css('--line');
	course = new Chart($('course').getContext('2d'), {
		type: 'line',
		data: {datasets: lines.map((line, i) => ({
			label: plain(line.path.length > 28 ? '…' + line.path.slice(-27) : line.path),
			data: line.values.map((y, j) => ({x: series.ends_s[j], y})),
			borderColor: css(colours[i]), backgroundColor: css(colours[i]),
			borderDash: line.status === 'simulated' ? [6, 3] : [],
			borderWidth: line.whole ? 2.5 : 1.5, pointRadius: series.ends_s.length > 60 ? 0 : 2.5, spanGaps: false,
		}))},
		options: {
			animation: false, maintainAspectRatio: false, responsive: true, interaction: {mode: 'index', intersect: false},
			scales: {
				x: {type: 'linear', min: 0, title: {display: true, text: series.clock === 'simulator' ? 's of the simulator' : 's'}},
				y: {beginAtZero: true, ticks: {callback: v => short(v)},
					title: {display: true, text: name + (simulated ? ' (simulated)' : '') + ' per interval'}},
			},
			plugins: {tooltip: {callbacks: {
				title: items => 'up to ' + full(items[0].parsed.x) + ' s',
				label: item => plain(lines[item.datasetIndex].path) + ': ' + full(item.parsed.y) + ', '
					+ lines[item.datasetIndex].status,
			}}},
		},
	});
}

function startCourse() {
	const names = new Set(timed.flatMap(process => Object.keys(process.series.lines[0].counts)));
	for (const name of names)
		$('course-of').append(make('option', {value: name}, name));
	const first = [...names].find(name => name.includes('miss'));
	if (first)
		$('course-of').value = first;
	timed.forEach((process, i) => $('course-process').append(make('option', {value: i},
		'process ' + process.pid + (process.image ? ', image ' + process.image : ''))));
	$('course-process').parentNode.hidden = timed.length < 2;
	for (const id of ['course-of', 'course-process'])
		$(id).addEventListener('change', drawCourse);
}

// ---- the table ----

let shown = rows, sorted = {id: null, down: true}, page = 0;

function picked() {
	const kind = $('columns').value;
	return columns.filter(column => !column.kind || kind === 'all' || column.kind === kind)
		.filter(column => rows.some(row => column.of(row.region).value !== null));
}

function compare(column) {
	const sign = sorted.down ? -1 : 1;
	return (a, b) => {
		if (!column)
			return sign * a.name.localeCompare(b.name) || a.order - b.order;
		const x = column.of(a.region).value, y = column.of(b.region).value;
		if (x === null || y === null)
			return (x === null) - (y === null) || a.order - b.order;
		return sign * (x - y) || a.order - b.order;
	};
}

function select() {
	const wanted = $('filter').value.toLowerCase();
	shown = rows.filter(row => row.name.toLowerCase().includes(wanted));
	if (sorted.id !== null)
		shown.sort(compare(columns.find(column => column.id === sorted.id)));
	$('found').textContent = count(shown.length, 'region', 'regions')
		+ (shown.length < rows.length ? ' of ' + rows.length.toLocaleString('en-US') : '');
}

function sortBy(id) {
	sorted = {id, down: sorted.id === id ? !sorted.down : id !== 'region'};
	page = 0;
	refresh();
	$('regions').querySelector('th[data-id="' + CSS.escape(id) + '"] button').focus();
}

function heading(id, title, unit) {
	const button = make('button', {type: 'button'}, title);
	button.addEventListener('click', () => sortBy(id));
	const th = make('th', {scope: 'col', 'data-id': id,
		'aria-sort': sorted.id !== id ? 'none' : sorted.down ? 'descending' : 'ascending'}, button);
	if (sorted.id === id)
		button.append(sorted.down ? ' ▼' : ' ▲');
	if (unit)
		th.append(make('br'), make('small', {}, unitName(unit)));
	return th;
}

function regionCell(row) {
	const depth = sorted.id === null && !$('filter').value ? row.region.path.length : 0;
	return make('th', {scope: 'row', title: row.name, style: depth && 'padding-left:' + (.5 + depth) + 'rem'},
		depth ? row.leaf : row.name);
}

function pages(box, at, size, total, move) {
	box.replaceChildren();
	if (total <= size)
		return;
	const step = (text, to, dead) => {
		const button = make('button', {type: 'button', disabled: dead && ''}, text);
		button.addEventListener('click', () => move(to));
		return button;
	};
	box.append(step('Previous', at - 1, at === 0),
		(at * size + 1) + ' to ' + Math.min(total, (at + 1) * size) + ' of ' + total,
		step('Next', at + 1, (at + 1) * size >= total));
}

function drawTable() {
	const those = picked();
	$('regions').replaceChildren(
		make('thead', {}, make('tr', {}, heading('region', 'region'),
			...those.map(column => heading(column.id, column.title, column.unit)))),
		make('tbody', {}, ...shown.slice(page * PAGE, (page + 1) * PAGE).map(row =>
			make('tr', {}, regionCell(row), ...those.map(column => cell(column.of(row.region), column.unit))))));
	pages($('region-pages'), page, PAGE, shown.length, to => { page = to; drawTable(); });
}

// ---- threads ----

const threads = report.processes.flatMap(process => process.threads.map(thread => ({process, thread,
	regions: new Map(thread.regions.map(region => [JSON.stringify(region.path), region]))})));
let heatPage = 0;

function threadName({process, thread}) {
	const rank = process.rank === null ? '' : 'rank ' + process.rank + ' ';
	return rank + (report.processes.length > 1 ? process.pid + '/' : '')
		+ (thread.tid === null ? count(thread.threads, 'ended thread', 'ended threads') : thread.tid);
}

function drawHeat() {
	const column = columns.find(one => one.id === $('heat-of').value);
	if (!column)
		return;
	const at = (thread, row) => {
		const region = thread.regions.get(row.key);
		return region ? column.of(region) : null;
	};
	const some = shown.slice(0, HEAT_ROWS), part = threads.slice(heatPage * HEAT_COLUMNS, (heatPage + 1) * HEAT_COLUMNS);
	$('heat-note').textContent = column.title + (column.unit && column.unit !== 'ratio' ? ' in ' + unitName(column.unit) : '')
		+ ' per thread; a stronger colour is more, within a region'
		+ (shown.length > some.length ? '.  The first ' + some.length + ' regions of the table above' : '') + '.';
	$('heat').replaceChildren(
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'region'), ...part.map(thread =>
			make('th', {scope: 'col', title: plain(thread.process.exe + ' ' + (thread.thread.name || ''))}, threadName(thread),
				make('br'), make('small', {}, plain(thread.thread.name || '')))))),
		make('tbody', {}, ...some.map(row => {
			const most = Math.max(...threads.map(thread => (at(thread, row) || {}).value || 0));
			return make('tr', {}, make('th', {scope: 'row', title: row.name}, row.name), ...part.map(thread => {
				const v = at(thread, row);
				if (!v)
					return make('td', {title: 'the thread was not in this region'}, '');
				const td = cell(v, column.unit, (n, unit) => unit === 'ratio' ? full(n, unit) : short(n));
				if (v.value > 0 && most > 0)
					td.style.backgroundColor = 'rgba(var(--heat),' + (0.55 * v.value / most).toFixed(3) + ')';
				return td;
			}));
		})));
	pages($('heat-pages'), heatPage, HEAT_COLUMNS, threads.length, to => { heatPage = to; drawHeat(); });
}

// ---- how sure ----

function drawReasons() {
	const seen = new Map(), used = new Set();
	for (const {region} of rows)
		for (const column of columns) {
			const v = column.of(region), text = column.title + ': ' + v.reason;
			used.add(v.status);
			if (v.reason)
				seen.set(text, {status: v.status, regions: (seen.get(text) || {regions: 0}).regions + 1});
		}
	$('legend').append(...statuses.filter(status => used.has(status)).map(status =>
		make('li', {}, make('span', {class: status}, status), ': ' + meanings[status])));
	$('reasons').append(...[...seen].map(([text, {status, regions}]) => make('li', {class: status}, plain(text)
		+ (regions < rows.length ? ' (in ' + count(regions, 'region', 'regions') + ')' : ''))));
}

// ---- all of it ----

function refresh() {
	select();
	drawTable();
	drawServed();
	drawHeat();
}

const dark = matchMedia('(prefers-color-scheme: dark)');

function setTheme(name) {
	document.documentElement.dataset.theme = name;
	drawServed();
	drawCourse();
}

function start() {
	head();
	for (const [value, text] of [['metric', 'metrics'], ['count', 'counts'], ['all', 'all']])
		$('columns').append(make('option', {value}, text));
	if (!metricNames.length)
		$('columns').value = 'count';
	for (const column of columns)
		if (rows.some(row => column.of(row.region).value !== null))
			$('heat-of').append(make('option', {value: column.id}, column.title));
	const known = columns.filter(column => column.kind && rows.some(row => column.of(row.region).value !== null));
	const first = known.find(column => column.id.endsWith('mpki')) || known[0];
	if (first)
		$('heat-of').value = first.id;
	document.documentElement.dataset.theme = dark.matches ? 'dark' : 'light';
	startCourse();
	refresh();
	drawCourse();
	drawReasons();
	$('filter').addEventListener('input', () => { page = 0; refresh(); });
	$('columns').addEventListener('change', drawTable);
	$('served-scale').addEventListener('change', drawServed);
	$('heat-of').addEventListener('change', drawHeat);
	$('theme').addEventListener('click', () =>
		setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
	dark.addEventListener('change', event => setTheme(event.matches ? 'dark' : 'light'));
	let before = null;
	addEventListener('beforeprint', () => { before = document.documentElement.dataset.theme; setTheme('light'); });
	addEventListener('afterprint', () => setTheme(before));
}

start();
})();
