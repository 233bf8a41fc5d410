// SPDX-License-Identifier: MIT
// Lines that threads share: cachepeek sharing.
const BARS = 20;
const turns = report.quantum !== null;
const rows = report.lines.map((line, order) => ({line, order, name: plain(line.data + ' ' + line.address), data: plain(line.data)}));

const simulated = (value, reason) => ({value, status: value === null ? 'unavailable' : 'simulated', reason: value === null ? reason : null});
const NO_TURNS = 'the order of the threads was not simulated: --quantum N';

const columns = [
	{id: 'threads', title: 'threads', tip: 'that use the line', of: row => simulated(row.line.threads.length)},
	{id: 'transfers', title: 'transfers', tip: meaningOf('transfers'), of: row => simulated(row.line.transfers_at_most)},
	{id: 'for_nothing', title: 'for nothing', tip: meaningOf('for_nothing'), of: row => simulated(row.line.for_nothing_at_most)},
	...(turns ? [
		{id: 'hitm', title: 'HITM', tip: meaningOf('hitm'), of: row => simulated(row.line.hitm, NO_TURNS)},
		{id: 'invalidations', title: 'invalidations', tip: meaningOf('invalidations'), of: row => simulated(row.line.invalidations, NO_TURNS)}] : []),
];

// Where in the code; of a module, what has no name.
const codeOf = user => (user.places || []).map(at => (at.writes ? 'writes' : 'reads') + ' in '
	+ (at.function || lastPart(at.module) + '+' + at.address + ' [no symbol]')
	+ (at.file ? ' (' + lastPart(at.file) + ':' + at.line + ')' : at.function ? ' in ' + lastPart(at.module) : '')).join(', ') || '?';

function lineCell(row) {
	const button = make('button', {type: 'button', class: 'link', title: 'the threads of ' + row.name}, row.data);
	button.addEventListener('click', () => {
		drawUsers(row);
		$('users-title').scrollIntoView({block: 'start'});
	});
	const th = make('th', {scope: 'row', title: row.name}, button);
	if (row === first)
		th.append(make('span', {class: 'mark', title: 'look here first: the most transfers for nothing'}, ' <=='));
	th.append(make('br'), make('small', {}, row.line.address + ', ' + row.line.sharing + ' sharing'));
	for (const user of row.line.threads.slice(0, 2))
		th.append(make('br'), make('small', {class: 'user'}, plain('thread ' + user.tid + ' ' + codeOf({places: (user.places || []).slice(0, 1)}))));
	return th;
}

// False sharing comes first, with the most transfers.
const first = rows.find(row => row.line.sharing === 'false' && (report.findings || []).length) || null;
const table = grid({table: $('lines'), filter: $('filter'), found: $('found'), pages: $('lines-pages'), rows, size: 50,
	what: 'line', many: 'lines', columns: () => columns, first: lineCell, rowClass: row => row === first && 'worst'});

// ---- the threads of a line ----

// Bytes of the line as a strip: what is read above what is written.
function strip(user) {
	const part = (name, [from, to]) => make('i', {class: name, title: name + ': bytes ' + from + ' to ' + to,
		style: 'left:' + (100 * from / report.line) + '%;width:' + (100 * (to - from + 1) / report.line) + '%'});
	return make('div', {class: 'bytes'}, ...user.read_bytes.map(range => part('read', range)),
		...user.written_bytes.map(range => part('written', range)));
}

const ranges = list => list.map(([from, to]) => from === to ? from : from + ' to ' + to).join(', ') || 'none';
const dataOf = user => user.data.map(one => one.name + (one.file ? ' (' + lastPart(one.file) + ':' + one.line + ')' : '')).join(', ') || '?';

function drawUsers({line, name}) {
	$('users-section').hidden = false;
	$('users-note').textContent = name + ', ' + line.sharing + ' sharing: which of its ' + report.line + ' bytes each thread reads and writes.';
	$('users').replaceChildren(
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'thread'),
			...['bytes', 'read', 'written', 'data', 'code'].map(text => make('th', {scope: 'col', class: 'text'}, text)),
			...['loads', 'stores', 'of its stores'].map(text => make('th', {scope: 'col'}, text)))),
		make('tbody', {}, ...line.threads.map(user => make('tr', {},
			make('th', {scope: 'row'}, plain(user.pid + '/' + user.tid + ' ' + user.name)), make('td', {}, strip(user)),
			make('td', {class: 'text'}, ranges(user.read_bytes)), make('td', {class: 'text'}, ranges(user.written_bytes)),
			make('td', {class: 'text'}, plain(dataOf(user))), make('td', {class: 'text'}, plain(codeOf(user))), cell(simulated(user.loads)), cell(simulated(user.stores)),
			cell(simulated(user.thread_stores ? user.stores / user.thread_stores : null, 'the thread stored nothing'), 'ratio')))));
}

// ---- by data ----

// Lines of the same data are one bar, as those of an array.
function dataBars() {
	const all = new Map();
	for (const {line, data} of rows) {
		const bar = all.get(data) || {name: data, lines: 0, nothing: 0, used: 0};
		bar.lines++;
		bar.nothing += line.for_nothing_at_most;
		bar.used += line.transfers_at_most - line.for_nothing_at_most;
		all.set(data, bar);
	}
	return [...all.values()].sort((a, b) => b.nothing - a.nothing || b.used - a.used);
}

const PARTS = [['nothing', 'for nothing', '--mem'], ['used', 'with data that is used', '--l1']];

function drawData() {
	const all = dataBars(), bars = all.slice(0, BARS);

	$('data-section').hidden = !bars.length;
	if (!bars.length)
		return;
	$('data-note').textContent = 'Transfers of lines between threads, at most: there and back, in whatever order the threads ran.'
		+ (all.length > bars.length ? '  The ' + bars.length + ' with the most for nothing.' : '');
	$('data-table').replaceChildren(
		make('thead', {}, make('tr', {}, ...['data', 'lines', ...PARTS.map(([, title]) => title)].map(text => make('th', {scope: 'col'}, text)))),
		make('tbody', {}, ...bars.map(bar => make('tr', {}, make('th', {scope: 'row', title: bar.name}, bar.name), cell(simulated(bar.lines)),
			...PARTS.map(([id]) => cell(simulated(bar[id])))))));
	barsHeight($('data-box'), bars.length);
	$('data').setAttribute('aria-label', 'Stacked bars of transfers, one per data.  The same numbers are in the table below.');
	draw($('data'), {
		type: 'bar',
		data: {labels: bars.map(bar => clipEnd(bar.name)), datasets: PARTS.map(([id, title, colour]) => ({
			label: title, maxBarThickness: 20, data: bars.map(bar => bar[id]), backgroundColor: css(colour)}))},
		options: {
			indexAxis: 'y',
			scales: {x: {stacked: true, ticks: {callback: v => short(v)}}, y: {stacked: true, ticks: {autoSkip: false}}},
			plugins: {tooltip: {callbacks: {
				title: items => bars[items[0].dataIndex].name,
				label: item => PARTS[item.datasetIndex][1] + ': at most ' + full(item.parsed.x) + ', simulated, in ' + count(bars[item.dataIndex].lines, 'line', 'lines')}}},
		},
	});
}

function head() {
	document.title = 'cachepeek sharing: ' + plain(report.command);
	$('title').textContent = plain(report.command);
	showAnswer(report.answers);
	showMeanings(columns.map(column => column.id));
	showProvenance(true, 'Simulated: who uses which bytes is exact' + (turns
		? '; HITM and invalidations are those of threads that take turns of ' + count(report.quantum, 'data reference', 'data references') + '.'
		: '; transfers are the most that any order of the threads can make.'));
	fact('machine', plain(report.machine));
	fact('line', full(report.line) + ' bytes');
	fact('written by', 'cachepeek ' + report.cachepeek);
	showWarnings(report.warnings);
	$('left-out').textContent = report.left_out ? count(report.left_out, 'line', 'lines') + ' with fewer than ' + full(report.least)
		+ ' transfers left out (--least).' : '';
}

head();
drawFindings(placeText);
startThemes(drawData);
table.refresh();
drawData();
if (rows.length)
	drawUsers(first || rows[0]);
showSure(rows.flatMap(row => columns.map(column => [column.title, column.of(row)])), rows.length, 'line', 'lines');
