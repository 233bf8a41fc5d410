// SPDX-License-Identifier: MIT
// One program on several machines.
const rows = report.machines.map((machine, order) => ({machine, order, name: plain(machine.name)}));
const first = report.machines[0];

// What the answer goes by, and what tells why.
const ranked = (report.answers || []).map(answer => answer.ranked_by).find(Boolean);
const ANSWERS = ranked ? [ranked, 'served_l1', 'served_l2', 'served_l3', 'served_memory', 'l1d_mpki'] : [];

const columns = [
	...Object.keys(first.metrics).map(name => ({id: name, title: words(name), kind: 'metric', tip: meaningOf(name),
		answers: ANSWERS.includes(name) && 1 + ANSWERS.indexOf(name), unit: first.metrics[name].unit, of: row => row.machine.metrics[name]})),
	...Object.keys(first.counts).map(name => ({id: '#' + name, title: words(name), kind: 'count', tip: meaningOf(name),
		of: row => row.machine.counts[name]})),
];
const counted = columns.filter(column => rows.some(row => column.of(row).value !== null));

function head() {
	const command = plain(report.command.join(' '));

	document.title = 'cachepeek: ' + command + ' on ' + count(rows.length, 'machine', 'machines');
	$('title').textContent = command;
	showAnswer(report.answers || []);
	showMeanings(columns.map(column => column.id.replace('#', '')));
	const sampled = rows.filter(row => row.machine.sample), whole = rows.filter(row => row.machine.not_sampled);
	showProvenance(true, sampled.length ? 'Sampled: these are estimates for a simulated PMU on these machines, with 95 % intervals; instructions are exact.'
		: 'Simulated: these are counts of a simulated PMU, exact for these machines, not of this processor.');
	if (sampled.length)
		fact('sample', sampled[0].machine.sample);
	for (const row of whole)
		fact('in full', row.name + ': ' + plain(row.machine.not_sampled));
	fact('counted', 'user mode, from the first instruction on' + (report.children ? '' : ', without child processes'));
	fact('ran', report.runs > 1 ? report.runs + ' times: a machine with other line sizes, or without a sample, needs a run of its own'
		: 'once: all machines saw the same references');
	fact('ended', (report.exit.how === 'signal' ? 'signal ' : 'exit ') + report.exit.code);
	fact('written by', 'cachepeek ' + report.cachepeek);
	for (const {machine} of rows)
		$('descriptions').append(make('dt', {}, plain(machine.name)), make('dd', {},
			plain(machine.description.replace(machine.name + ': ', '')) + '; latencies: ' + latencyFact(machine) + (report.runs > 1 ? '; run ' + machine.run : '')));
}

const {most} = (report.answers || []).find(answer => answer.most) || {};

const table = grid({table: $('machines'), filter: $('filter'), found: $('found'), pages: $('machine-pages'), rows,
	what: 'machine', many: 'machines', columns: () => picked(counted), all: counted,
	first: row => {
		const text = make('th', {scope: 'row', title: row.machine.description}, row.name);
		if (row.machine.name === most)
			text.append(make('span', {class: 'mark', title: 'the most'}, ' <=='));
		return text;
	}, rowClass: row => row.machine.name === most && 'worst',
	changed: drawBars});

function drawBeside() {
	const column = counted.find(one => one.id === $('beside-of').value), bars = table.shown;
	const unit = column && column.unit && column.unit !== 'ratio' ? ' in ' + unitName(column.unit) : '';
	const factor = column && column.unit === 'ratio' ? 100 : 1;
	const values = column ? bars.map(row => column.of(row)) : [];
	const missing = bars.filter((row, i) => column && values[i].value === null);

	$('beside-box').hidden = !column;
	if (!column)
		return;
	$('beside-note').textContent = column.title + unit + ' of each machine.'
		+ (missing.length ? '  Not counted on ' + missing.map(row => row.name).join(', ') + '.' : '');
	barsHeight($('beside-box'), bars.length);
	$('beside').setAttribute('aria-label', 'Bars of ' + column.title + ', one per machine.  '
		+ 'The same numbers are in the table of machines.');
	draw($('beside'), {
		type: 'bar',
		data: {labels: bars.map(row => clip(row.name)), datasets: [{
			label: column.title, maxBarThickness: 20, data: values.map(v => v.value === null ? null : factor * v.value),
			backgroundColor: values.map(v => fill($('beside').getContext('2d'), css('--l1'), v.value !== null && differs(v))),
		}]},
		options: {
			indexAxis: 'y',
			scales: {x: {beginAtZero: true, ticks: {callback: v => short(v) + (factor > 1 ? ' %' : '')}},
				y: {ticks: {autoSkip: false}}},
			plugins: {legend: {display: false}, tooltip: {callbacks: {
				title: items => bars[items[0].dataIndex].name,
				label: item => column.title + ': ' + explain(values[item.dataIndex], column.unit)}}},
		},
	});
}

function drawBars() {
	drawServed(table.shown.map(row => ({name: row.name, order: row.order, counts: row.machine.counts,
		l2IsLast: lastIsL2(row.machine.counts)})), ['machine', 'machines'], '', false);
	drawBeside();
}

function start() {
	head();
	startColumns(counted);
	$('beside-of').append(...counted.map(column => make('option', {value: column.id}, column.title)));
	$('beside-of').value = telling(counted);
	startThemes(drawBars);
	table.refresh();
	showSure(rows.flatMap(row => columns.map(column => [column.title, column.of(row)])),
		rows.length, 'machine', 'machines');
	$('columns').addEventListener('change', table.draw);
	$('served-scale').addEventListener('change', drawBars);
	$('beside-of').addEventListener('change', drawBeside);
}

start();
