// SPDX-License-Identifier: MIT
// What the timing model predicts beside what the clock says: cachepeek run --confirm.
const BARS = 20;
const rows = report.regions.map((region, order) => ({region, order, name: plain(region.path.join(' / ') || 'whole run')}));
const badly = row => row.region.explained === 'badly';
const why = {well: '', badly: 'further apart than a factor of ' + report.factor,
	'too short': 'too short natively to be judged', 'other work': 'the two runs did not call it equally often',
	'not told': 'one of the two times is not there'};

const columns = [
	{id: 'calls', title: 'calls', of: ({region}) => ({value: region.calls, status: region.calls === null ? 'unavailable' : 'exact',
		reason: region.calls === null ? 'the whole run is not called' : null})},
	{id: 'native', title: 'natively', unit: 's', tip: 'of one run', of: row => row.region.native},
	{id: 'predicted', title: 'predicted', unit: 's', tip: report.model, of: row => row.region.predicted},
	{id: 'ratio', title: 'ratio', tip: 'predicted / natively', of: ({region}) => ({value: region.ratio,
		status: region.ratio === null ? 'unavailable' : 'estimated', reason: region.ratio === null ? why[region.explained] : null})},
	{id: 'explained', title: 'explained', text: true, of: ({region}) => ({value: null, status: 'unavailable', reason: why[region.explained]})},
];

function explainedCell({region}) {
	return make('td', {class: 'text', title: why[region.explained] || null}, region.explained);
}

function regionCell(row) {
	return markedCell(row.name, row.name, 0, badly(row) && 'the model explains it badly');
}

const table = grid({table: $('regions'), filter: $('filter'), found: $('found'), pages: $('regions-pages'), rows, size: 50,
	what: 'region', many: 'regions', columns: () => columns, first: regionCell, rowClass: row => badly(row) && 'worst',
	fill: (row, column) => column.id === 'explained' ? explainedCell(row) : cell(column.of(row), column.unit)});

function drawTimes() {
	const shown = rows.filter(({region}) => region.native.value !== null && region.predicted.value !== null)
		.sort((a, b) => b.region.native.value - a.region.native.value || a.order - b.order).slice(0, BARS);
	$('chart-title').parentNode.hidden = !shown.length;
	if (!shown.length)
		return;
	barsHeight($('times-box'), 2 * shown.length);
	const bars = (label, which, colour) => ({label, data: shown.map(({region}) => region[which].value), backgroundColor: colour});
	draw($('times'), {
		type: 'bar',
		data: {labels: shown.map(row => clip(row.name)), datasets: [bars('natively', 'native', css('--l1')), bars('predicted', 'predicted', css('--l3'))]},
		options: {indexAxis: 'y', scales: {x: {ticks: {callback: v => time(v)}}},
			plugins: {tooltip: {callbacks: {label: item => item.dataset.label + ': ' + time(item.parsed.x)}}}},
	});
}

function head() {
	const command = plain(report.command.join(' '));

	document.title = 'cachepeek: is the time of ' + command + ' explained?';
	$('title').textContent = command;
	showAnswer(report.answers);
	showMeanings([]);
	showProvenance(true, 'Natively: one run, by the clock.  Predicted: ' + plain(report.model) + '.');
	fact('machine', plain(report.machine.description));
	fact('natively', [...new Set(report.regions.map(region => region.native_is).filter(Boolean))].map(is =>
		is === 'cpu' ? 'CPU time, the kernel\'s work included' : 'wall time').join(' or '));
	fact('badly', 'further apart than a factor of ' + report.factor);
	fact('written by', 'cachepeek ' + report.cachepeek);
}

head();
startThemes(drawTimes);
table.refresh();
drawTimes();
showSure(rows.flatMap(row => columns.slice(0, 3).map(column => [column.title, column.of(row)])), rows.length, 'region', 'regions');
