// SPDX-License-Identifier: MIT
// What all pages share.  Names are only ever set as text.
const $ = id => document.getElementById(id);
const jsonOf = id => JSON.parse($(id).textContent);
const report = jsonOf('report');
const statuses = ['exact', 'scaled', 'simulated', 'estimated', 'unavailable'];
const meanings = {
	exact: 'counted, all the time',
	scaled: 'counted part of the time, and extrapolated (±)',
	simulated: 'counted by the simulated PMU, on the simulated machine',
	estimated: 'inferred (~), with an error bar where that is known',
	unavailable: 'not counted (—), which is not 0',
};

function make(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== undefined && value !== null && value !== false)
			node.setAttribute(name, value);
	node.append(...children);
	return node;
}

// ---- what the page says first ----

// Lines of what and what of it, as the text report has them; null: there are none.
// A number stays in one line with its %.
const wrapped = text => plain(text).split(/(\S+ %)/).map((part, i) => i % 2 ? make('span', {class: 'together'}, part) : part);

function showAnswer(answers) {
	const several = answers.filter(answer => answer.group && answer.lines.length).length > 1;
	for (const {group, lines} of answers) {
		if (several && group && lines.length)
			$('answer').append(make('dt', {class: 'group'}, plain(group)), make('dd', {}));
		for (const {title, text} of lines)
			$('answer').append(make('dt', {}, plain(title)), make('dd', {class: title === 'look first' && 'first'}, ...wrapped(text)));
	}
	$('answer').hidden = !$('answer').children.length;
}

// When and where it ran, or the first run of each side, and by which version; and that it
// was cut short, if it was.
function whenAndWhere(run) {
	const host = run.host || run.machine && run.machine.host;
	return [run.began && plain(run.began).replace('T', ' ').replace('Z', ' UTC'), host && 'on ' + plain(host)].filter(Boolean).join(' ');
}
function showRun() {
	const sides = ['before', 'after'].filter(side => report[side] && report[side].name);
	const runs = sides.length ? sides.map(side => [side, whenAndWhere(report[side])]) : [['', whenAndWhere(report)]];
	$('run').textContent = [...runs.filter(([, text]) => text).map(([side, text]) => (side && side + ': ') + text),
		report.cachepeek && 'cachepeek ' + plain(report.cachepeek)].filter(Boolean).join(' · ');
	const ended = report.ended ? [plain(report.ended)] : sides.map(side => report[side]).filter(side => side.ended)
		.map(side => plain(side.name) + ': ' + plain(side.ended));
	$('ended').textContent = ended.join('; ');
	$('ended').hidden = !ended.length;
}
showRun();

// ---- what the columns mean ----

const explained = $('meanings') ? jsonOf('meanings') : {};
const WORDS = {l1d: 'L1D', l1i: 'L1I', l1: 'L1', l2: 'L2', l3: 'L3', llc: 'L3', dtlb: 'DTLB', itlb: 'ITLB', tlb: 'TLB',
	mpki: 'misses', pki: '', apki: 'accesses', hpki: 'hits', ipc: 'IPC', cpi: 'CPI', mem: 'memory',
	ifetch: 'code fetch', ifetches: 'code fetches', wb: 'write-back', hitm: 'modified elsewhere'};

const TITLES = {time_s: 'time', served_l1: 'from L1D', served_l2: 'from L2', served_l3: 'from L3', served_memory: 'from memory',
	served_beyond: 'from beyond L2', cost_l2: 'cost of L2', cost_l3: 'cost of L3', cost_memory: 'cost of memory',
	cost_code: 'cost of code', cost_walks: 'cost of page walks', cost_sharing: 'cost of other threads\' lines'};

// "l1d_miss_ratio": "L1D miss ratio"; a name that is not ours stays as it is.
function words(name) {
	if (TITLES[name])
		return TITLES[name];
	return /^[a-z][a-z0-9_]*$/.test(name) ? name.split('_').map(word => WORDS[word] ?? word).join(' ').trim() : plain(name);
}

// Of a heading: what the column means, and how it comes about.
function meaningOf(name) {
	const {meaning, formula} = explained[name] || {};
	return [meaning, formula && name + ' = ' + formula].filter(Boolean).join('.\n');
}

// The same as a list, for whoever has no pointer, and for paper.
function showMeanings(names) {
	const known = [...new Set(names)].filter(name => explained[name]);
	$('meanings-section').hidden = !known.length;
	$('meanings-list').replaceChildren(...known.flatMap(name => {
		const {meaning, formula} = explained[name];
		return [make('dt', {}, words(name)), make('dd', {}, plain(meaning || ''), formula ? make('code', {}, plain(name + ' = ' + formula)) : '')];
	}));
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

const SECONDS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];

// Of a heading; times have theirs beside each number.
function unitName(unit) {
	return unit === 'ratio' ? '%' : unit === 's' ? '' : unit in BYTES ? 'bytes' : unit === '1/kinstr' ? '/kI' : unit;
}

function time(seconds) {
	const [size, name] = SECONDS.find(([one]) => seconds >= one) || [1, 's'];
	return Number((seconds / size).toPrecision(4)) + ' ' + name;
}

const grouped = new Intl.NumberFormat('en-US');

function full(number, unit) {
	if (unit === 'ratio')
		return (100 * number).toFixed(2) + ' %';
	if (unit === 's')
		return time(number);
	if (unit in BYTES)
		return short(number * BYTES[unit]);
	if (unit === 'cycles' && number >= 1e7)
		return short(number);
	if (Number.isInteger(number))
		return grouped.format(number);
	return Math.abs(number) >= 1e3 ? grouped.format(Math.round(number))
		: String(Number(number.toPrecision(4)));
}

// What a value's cell says: the number, and where it comes from.
function explain(v, unit) {
	if (v.value === null)
		return 'unavailable: ' + (v.reason || 'no reason is given');
	let text = full(v.value, unit) + (unit && unit !== 'ratio' && unitName(unit) ? ' ' + unitName(unit) : '') + ', ' + v.status;
	if (v.status === 'scaled' && v.coverage != null)
		text += ': counted ' + full(v.coverage, 'ratio') + ' of the time'
			+ (v.error === null ? '' : ', ± ' + full(v.error));
	else if (v.status === 'estimated' && v.error != null)
		text += ': ± ' + full(v.error, unit);
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

// What the levels take, and who says so.
function latencyFact(one) {
	const names = {l1: 'L1', l2: 'L2', llc: 'L3', memory: 'memory', one_hop: 'one hop', two_hops: 'two hops',
		near_cache: 'another core', far_cache: 'another socket\'s caches'};
	const from = {machine: 'machine file', assumed: 'assumed', user: 'yours'};
	return Object.entries(one.latencies_from || {}).filter(([, who]) => who)
		.map(([level, who]) => names[level] + ' ' + full(one.latencies[level]) + ' (' + from[who] + ')').join(', ');
}

function count(n, one, many) {
	return n.toLocaleString('en-US') + ' ' + (n === 1 ? one : many);
}

// Without what could end the line or turn it round.
function plain(text) {
	return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, c =>
		'\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

// What the head says first; all that is simulated looks so.
function showProvenance(simulated, text) {
	document.documentElement.dataset.engine = simulated ? 'sim' : 'perf';
	$('provenance').classList.toggle('simulated', simulated);
	$('provenance').textContent = text;
}

function fact(name, text) {
	$('facts').append(make('dt', {}, name), make('dd', {}, text));
}

function showWarnings(warnings) {
	$('warnings').hidden = !warnings.length;
	$('warnings').querySelector('ul').append(...warnings.map(text => make('li', {}, plain(text))));
}

// Previous, where we are, next; nothing where all fits.
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

// The reason alone, where it begins with the input that is missing.
function reasonAlone(reason, titles) {
	const [, name, rest] = reason.match(/^([^ :]+): (.*)$/s) || [];
	return titles.has(name) || titles.has(words(name || '')) ? rest : reason;
}

// What it is, its value and of how many rows (1), in n rows: what the words mean, and all
// reasons, each once for all that it holds for.
function showSure(pairs, n, one, many) {
	const seen = new Map(), used = new Set(), titles = new Set(pairs.map(([title]) => title)), same = new Map();
	for (const [title, v, rows] of pairs) {
		used.add(v.status);
		if (!v.reason)
			continue;
		const key = JSON.stringify([title, reasonAlone(v.reason, titles), v.status]);
		seen.set(key, (seen.get(key) || 0) + (rows || 1));
	}
	for (const [key, rows] of seen) {
		const [title, reason, status] = JSON.parse(key), group = JSON.stringify([reason, status, rows]);
		same.set(group, (same.get(group) || []).concat(title));
	}
	$('legend').append(...statuses.filter(status => used.has(status)).map(status =>
		make('li', {}, make('span', {class: status}, status), ': ' + meanings[status])));
	$('reasons').append(...[...same].map(([group, names]) => {
		const [reason, status, rows] = JSON.parse(group);
		return make('li', {class: status}, plain(names.join(', ') + ': ' + reason)
			+ (rows < n ? ' (in ' + count(rows, one, many) + ')' : ''));
	}));
}

// ---- charts ----

function css(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// From what the page says of all its numbers.
function differs(v) {
	return v.status === 'estimated' || (v.status === 'simulated') !== (document.documentElement.dataset.engine === 'sim');
}

// What differs is hatched.
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
// Characters of a name that fit beside a bar.
function room() {
	return innerWidth < 600 ? 16 : 28;
}

// The end of a path says more than its start.
function clip(text) {
	return text.length > room() ? '…' + text.slice(1 - room()) : text;
}

function clipEnd(text) {
	return text.length > room() ? text.slice(0, room() - 1) + '…' : text;
}

// Room for n bars.
function barsHeight(box, n) {
	box.style.height = 90 + 26 * n + 'px';
}

// Of charts of lines: what a box would be in the legend is a line.
const lineLegend = () => ({labels: {usePointStyle: true, pointStyle: 'line', pointStyleWidth: 36}});

const charts = new Map();

// Draws on the canvas anew; without a configuration there is nothing to draw.
function draw(canvas, configuration) {
	if (charts.has(canvas))
		charts.get(canvas).destroy();
	charts.delete(canvas);
	if (!configuration)
		return;
	Chart.defaults.color = css('--text');
	Chart.defaults.borderColor = css('--line');
	Object.assign(configuration.options, {animation: false, maintainAspectRatio: false, responsive: true});
	charts.set(canvas, new Chart(canvas.getContext('2d'), configuration));
}

// Light or dark as the system is, or as the button says; on paper light.
function startThemes(redraw) {
	const dark = matchMedia('(prefers-color-scheme: dark)'), root = document.documentElement.dataset;
	const set = name => {
		root.theme = name;
		redraw();
	};
	let before = null;

	root.theme = dark.matches ? 'dark' : 'light';
	$('theme').addEventListener('click', () => set(root.theme === 'dark' ? 'light' : 'dark'));
	dark.addEventListener('change', event => set(event.matches ? 'dark' : 'light'));
	addEventListener('beforeprint', () => { before = root.theme; set('light'); });
	addEventListener('afterprint', () => set(before));
}
