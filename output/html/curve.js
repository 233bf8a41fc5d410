// SPDX-License-Identifier: MIT
// The miss curve: misses of one level, had it another size.
const sweep = report.sweep || null;

// The whole run, and the regions with the most where there are most.
function curveLines() {
	const lines = sweep.curves.filter(curve => curve.misses.some(value => value !== null))
		.map(curve => ({...curve, name: plain(curve.path.join(' / ') || 'whole run'), whole: !curve.path.length}));
	const most = line => Math.max(...line.misses.map(value => value || 0));
	return lines.filter(line => line.whole).concat(lines.filter(line => !line.whole && most(line) > 0)
		.sort((a, b) => most(b) - most(a)).slice(0, LINES));
}

const curveValue = (line, i) => ({value: line.misses[i], status: line.misses[i] === null ? 'unavailable' : line.status,
	reason: line.reason});
const pointName = point => point.label + (point.value === sweep.own ? ' (this machine)' : '');

function curveNote(lines) {
	const bad = sweep.curves.find(curve => curve.reason);
	let text = 'What ' + sweep.title + ' would miss of the same references, by its ' + sweep.field + '.';
	if (!lines.length)
		return 'Not known' + (bad ? ': ' + bad.reason : '') + '.';
	if (sweep.curves.length > lines.length)
		text += '  The ' + count(lines.length - 1, 'region', 'regions') + ' with the most.';
	if (sweep.other_levels && sweep.other_levels.reason)
		text += '  ' + sweep.other_levels.reason[0].toUpperCase() + sweep.other_levels.reason.slice(1) + '.';
	return text;
}

function curveTable(lines) {
	$('curve-table').replaceChildren(
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, sweep.field),
			...lines.map(line => make('th', {scope: 'col', title: line.name}, line.name)))),
		make('tbody', {}, ...sweep.points.map((point, i) => make('tr', {}, make('th', {scope: 'row'}, pointName(point)),
			...lines.map(line => cell(curveValue(line, i)))))));
}

function drawCurve() {
	$('curve-section').hidden = !sweep;
	if (!sweep)
		return;
	const lines = curveLines(), own = sweep.points.findIndex(point => point.value === sweep.own);
	$('curve-title').textContent = 'Misses of ' + sweep.title + ' by ' + {size: 'size', ways: 'associativity',
		entries: 'number of entries'}[sweep.field];
	$('curve-note').textContent = plain(curveNote(lines));
	$('curve-box').hidden = !lines.length;
	$('curve-numbers').hidden = !lines.length;
	curveTable(lines);
	$('curve').setAttribute('aria-label', 'Misses of ' + sweep.title + ' by ' + sweep.field
		+ ', a line for the whole run and for each region.  The same numbers are in the table below.');
	draw($('curve'), !lines.length ? null : {
		type: 'line',
		data: {labels: sweep.points.map(pointName), datasets: lines.map((line, i) => ({
			label: clip(line.name), data: line.misses, spanGaps: false,
			borderColor: css(colours[i]), backgroundColor: css(colours[i]),
			borderDash: line.status === 'simulated' ? [6, 3] : [], borderWidth: line.whole ? 2.5 : 1.5,
			pointRadius: sweep.points.map((_, j) => j === own ? 6 : 3),
		}))},
		options: {
			interaction: {mode: 'index', intersect: false},
			scales: {
				x: {title: {display: true, text: sweep.field + ' of ' + sweep.title}},
				y: {beginAtZero: true, ticks: {callback: v => short(v)}, title: {display: true, text: 'misses (simulated)'}},
			},
			plugins: {legend: lineLegend(), tooltip: {callbacks: {
				label: item => lines[item.datasetIndex].name + ': ' + explain(curveValue(lines[item.datasetIndex], item.dataIndex)),
			}}},
		},
	});
}
