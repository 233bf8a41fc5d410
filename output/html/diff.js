// SPDX-License-Identifier: MIT
// What differs between the runs of two sides.
const BARS = 20;
const flagged = row => ['exact', 'significant'].includes(row.value.verdict);
const untested = row => row.value.verdict === 'untested';
const SAID = {same: 'one value in all runs', exact: 'simulated: one value on each side, and not the same: no noise',
	significant: 'significant: not noise', noise: 'may well be noise', untested: 'too few runs for a test',
	'one-sided': 'one side has no value'};

const of = value => ({value, status: 'exact', reason: value === null ? 'there is none' : null});
const columns = [
	{id: 'before', title: 'before', tip: 'mean of the runs before', of: row => numberOf(row.value.before, 'mean')},
	{id: 'after', title: 'after', tip: 'mean of the runs after', of: row => numberOf(row.value.after, 'mean')},
	{id: 'change', title: 'change', tip: 'of the means', of: row => of(row.value.ratio === null ? null : row.value.ratio - 1)},
	{id: 'p', title: 'p', tip: 'Welch\'s t test of the means, adjusted for all values (Benjamini and Hochberg); below '
		+ report.test.level + ' a difference is significant', of: row => of(row.value.p_adjusted)},
];

// As the text report spells it.
function changeText({verdict, difference, ratio, before}) {
	const percent = 100 * (ratio - 1);
	if (verdict === 'one-sided')
		return before.n ? 'gone' : 'new';
	if (difference === 0)
		return '0 %';
	if (ratio === null)
		return 'from 0';
	if (ratio >= 2)
		return '×' + Number(ratio.toPrecision(3));
	if (Math.abs(percent) < 0.05)
		return percent < 0 ? '>−0.1 %' : '<0.1 %';
	return (percent > 0 ? '+' : '−') + Math.abs(percent).toFixed(1) + ' %';
}

function certainty({verdict, p_adjusted: p}) {
	return verdict === 'exact' || verdict === 'same' ? verdict : p === null ? '—' : p < 0.001 ? '<0.001' : p.toFixed(3);
}

function fillCell({value, unit}, {id, of: read}) {
	if (id === 'before' || id === 'after')
		return runsCell(value[id], 'mean', unit);
	const td = make('td', {title: SAID[value.verdict]}, id === 'change' ? changeText(value) : certainty(value));
	const number = read({value}).value;
	if (number !== null)
		td.dataset.value = number;
	return td;
}

// The cost comes first, whether it is among them or not; what others say already does not come by itself.
const changed = row => row.value.role !== 'repeated' && (flagged(row) || untested(row));
const isSaid = row => changed(row) || row.value.role === 'cost' && rows.some(changed);
const table = startValues({differs: isSaid, list: columns, fill: fillCell, first: row => valueCell(row), rowClass: () => false, changed: drawChanges});

// ---- the chart ----

// What the clock says stands beside what is predicted, as the first bar.
const timed = report.time && report.time.ratio > 0 ? [{what: 'measured CPU time', name: 'measured CPU time, the least of '
	+ count(report.time.runs, 'run', 'runs') + ' of each side', unit: 's', value: {path: [], verdict: 'measured', difference: report.time.least_after
	- report.time.least_before, ratio: report.time.ratio, before: {mean: report.time.least_before}, after: {mean: report.time.least_after}}}] : [];
if (timed.length)
	SAID.measured = report.time.verdict;

// Doubled and halved are as far from the middle; none of both sides is nowhere.
function drawChanges() {
	const known = [...timed, ...table.shown.filter(row => row.value.ratio > 0 && row.value.ratio !== 1)], bars = known.slice(0, BARS);
	const wide = bars.some(row => row.value.ratio >= 2 || row.value.ratio <= 0.5);
	const at = ratio => wide ? Math.log2(ratio) : 100 * (ratio - 1);
	const tick = v => !wide ? (v > 0 ? '+' : '') + short(v) + ' %' : v === 0 ? 'same' : (v > 0 ? '×' : '÷') + short(2 ** Math.abs(v));

	$('changes-note').textContent = !bars.length ? 'Nothing of what the table shows changed by a factor.'
		: 'The means after, compared with those before: orange is more, blue is less.'
			+ (known.length > bars.length ? '  The first ' + bars.length + '.' : '')
			+ (known.length - timed.length < table.shown.length ? '  Without what is 0 or missing on a side.' : '');
	$('changes-box').hidden = !bars.length;
	barsHeight($('changes-box'), bars.length);
	$('changes').setAttribute('aria-label', 'Bars of the change, one per value.  The same numbers are in the table of values.');
	draw($('changes'), !bars.length ? null : {
		type: 'bar',
		data: {labels: bars.map(row => clipEnd(row.value.path.length ? row.name : row.what)), datasets: [{
			label: 'change', maxBarThickness: 20, data: bars.map(row => at(row.value.ratio)),
			backgroundColor: bars.map(row => css(row.value.ratio > 1 ? '--mem' : '--l1')),
		}]},
		options: {
			indexAxis: 'y',
			scales: {x: {ticks: {callback: tick}}, y: {ticks: {autoSkip: false}}},
			plugins: {legend: {display: false}, tooltip: {callbacks: {
				title: items => bars[items[0].dataIndex].name,
				label: item => {
					const {value, unit} = bars[item.dataIndex];
					return full(value.before.mean, unit) + ' to ' + full(value.after.mean, unit) + ': ' + changeText(value) + ', ' + SAID[value.verdict];
				}}}},
		},
	});
}

// ---- around it ----

const VERDICTS = {met: 'fails', 'not met': 'holds', unknown: 'cannot be judged', unsure: 'unsure'};

function drawGates() {
	$('gates').hidden = !report.fail_if.length;
	$('gates-list').append(...report.fail_if.map(gate => make('li', {}, make('strong', {}, VERDICTS[gate.verdict]), ': ',
		plain((gate.text || gate.expression + ' is not met').replace(/^fails: |^cannot judge |^unsure: /, '')))));
}

function sideFact(name, side) {
	fact(name, plain(side.name + ': ' + count(side.runs, 'run', 'runs') + ' of ' + side.command + ', '
		+ {sim: 'simulated', perf: 'counted by the processor', none: 'not counted'}[side.engine]
		+ (side.machine ? ', ' + side.machine : '') + (side.mixed ? ' (the first one\'s; others differ)' : '')));
}

function head() {
	const {before, after} = report, sides = plain(before.name) + ' → ' + plain(after.name);
	document.title = 'cachepeek diff: ' + sides;
	$('title').textContent = sides;
	showAnswer(report.answers);
	showMeanings(rows.map(row => row.value.name));
	showProvenance(before.engine === 'sim' && after.engine === 'sim', before.engine !== after.engine
		? 'One side was counted by the processor and one was simulated.'
		: before.engine === 'sim' ? 'Simulated: both sides are counts of a simulated PMU, not of this processor.'
			: 'Counted by the processor and the kernel (perf events).');
	sideFact('before', before);
	sideFact('after', after);
	fact('written by', 'cachepeek ' + report.cachepeek);
	showWarnings(report.warnings);
	$('test').textContent = (report.test.values ? 'p: Welch\'s t test of the means, adjusted (Benjamini and Hochberg) for '
		+ count(report.test.values, 'value that varies', 'values that vary') + '.  ' : '')
		+ (rows.some(untested) ? '—: not tested: it takes ' + report.test.fewest_runs
			+ ' runs on each side to tell a difference from noise.  ' : '')
		+ (rows.some(row => row.value.verdict === 'exact') ? 'exact: simulated, so that counting has no error.' : '');
}

head();
drawGates();
startThemes(drawChanges);
table.refresh();
showSure(rows.flatMap(row => ['before', 'after'].map(side => [row.what, numberOf(row.value[side], 'mean')])), 2 * rows.length,
	'value', 'values');
