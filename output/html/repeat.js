// SPDX-License-Identifier: MIT
// Several runs of one program.
const varies = row => !sameInAll(row.value) || row.value.missing > 0;

const columns = [
	{id: 'mean', title: 'mean', tip: 'of all runs', of: row => numberOf(row.value, 'mean')},
	{id: 'min', title: 'min', tip: 'the least of all runs', of: row => numberOf(row.value, 'min')},
	{id: 'max', title: 'max', tip: 'the most of all runs', of: row => numberOf(row.value, 'max')},
	{id: 'spread', title: 'spread', tip: 'standard deviation of the runs, as a share of the mean',
		of: row => row.value.n ? {...numberOf(row.value, 'mean'), value: spreadOf(row.value)} : numberOf(row.value, 'mean')},
];

function spreadCell({value}) {
	const td = cell({...numberOf(value, 'mean'), value: value.n ? spreadOf(value) : null}, 'ratio');
	if (sameInAll(value)) {
		td.textContent = 'same';
		td.className = '';
	}
	return td;
}

function choose(row) {
	$('runs-of').value = row.order;
	drawRuns();
	$('runs-title').scrollIntoView({block: 'start'});
}

// What the report says varies most; else something that was counted, to begin with.
const [{most: varied}] = report.answers;
const most = rows.find(({value}) => varied && value.name === varied.name && value.path.join('\0') === varied.path.join('\0'))
	|| rows.find(({value}) => value.n && value.kind !== 'time') || null;

const table = startValues({differs: varies, list: columns,
	fill: (row, column) => column.id === 'spread' ? spreadCell(row) : runsCell(row.value, column.id, row.unit),
	first: row => valueCell(row, () => choose(row), row === most && varies(row) && 'varies most'),
	rowClass: row => row === most && varies(row) && 'worst'});

function drawRuns() {
	const row = rows[Number($('runs-of').value)], {value} = row, factor = value.unit === 'ratio' ? 100 : 1;
	const unit = value.unit === '1/kinstr' ? '' : unitName(value.unit);

	$('runs-note').textContent = row.name + (unit ? ' in ' + unit : '') + ': ' + (sameInAll(value)
		? 'the same in all ' + value.n + ' runs.' : full(value.min, row.unit) + ' to ' + full(value.max, row.unit) + ' in '
			+ count(value.n, 'run', 'runs') + '.') + (value.missing ? '  Missing in ' + count(value.missing, 'run', 'runs') + '.' : '');
	$('runs-table').replaceChildren(make('thead', {}, make('tr', {}, ...['run', row.what].map(text => make('th', {scope: 'col'}, text)))),
		make('tbody', {}, ...value.values.map((number, i) => make('tr', {}, make('th', {scope: 'row'}, String(i + 1)),
			cell({value: number, status: value.status, reason: null}, row.unit)))));
	$('runs').setAttribute('aria-label', 'A point for each run.  The same numbers are in the table below.');
	draw($('runs'), {
		type: 'line',
		data: {labels: value.values.map((_, i) => 'run ' + (i + 1)), datasets: [{label: row.name, showLine: false, pointRadius: 5,
			data: value.values.map(number => factor * number), borderColor: css('--l2'), backgroundColor: css('--l1')}]},
		options: {
			scales: {y: {ticks: {callback: v => Number(v.toPrecision(6)).toLocaleString('en-US') + (factor > 1 ? ' %' : '')}, title: {display: Boolean(unit), text: unit}}},
			plugins: {legend: {display: false}, tooltip: {callbacks: {
				label: item => row.name + ': ' + full(value.values[item.dataIndex], row.unit)}}},
		},
	});
}

function head() {
	const command = plain(report.command.join(' ')), simulated = report.engine.name === 'sim';

	document.title = 'cachepeek: ' + count(report.runs, 'run', 'runs') + ' of ' + command;
	$('title').textContent = command;
	showAnswer(report.answers);
	showMeanings(rows.map(row => row.value.name));
	showProvenance(simulated, count(report.runs, 'run', 'runs') + '.  ' + (simulated
		? 'Simulated: these are counts of a simulated PMU, exact for the machine below, not of this processor.'
		: report.engine.name === 'perf' ? 'Counted by the processor and the kernel (perf events).' : 'Nothing was counted.'));
	if (report.machine.description)
		fact('machine', plain(report.machine.description));
	fact('spread', 'standard deviation of the runs, as a share of the mean');
	fact('written by', 'cachepeek ' + report.cachepeek);
}

head();
$('runs-of').append(...rows.filter(row => row.value.n).map(row => make('option', {value: row.order}, row.name)));
$('runs-of').parentNode.hidden = !most;
if (most)
	$('runs-of').value = most.order;
$('runs-of').addEventListener('change', drawRuns);
startThemes(() => most && drawRuns());
table.refresh();
if (most)
	drawRuns();
showSure(rows.map(row => [row.what, numberOf(row.value, 'mean')]), rows.length, 'value', 'values');
