// SPDX-License-Identifier: MIT
// Where references were served: stacked bars, a level each.  An item is {name, order,
// counts, l2IsLast}.
const BARS = 20;
const levels = [
	{name: 'L1D', colour: '--l1', refs: 'refs_from_l1', from: ['l1d_accesses', 'l1d_misses']},
	{name: 'L2', colour: '--l2', refs: 'refs_from_l2', from: ['l2_accesses', 'l2_misses']},
	{name: 'L3', colour: '--l3', refs: 'refs_from_l3', from: ['llc_accesses', 'llc_misses']},
	{name: 'memory', colour: '--mem', refs: 'refs_from_memory', from: ['llc_misses']},
	{name: 'further out', colour: '--faint', from: []},
];

// What these cost, where that is known: an item has its metrics then.
const costs = [
	{name: 'L2', colour: '--l2', metric: 'cost_l2'},
	{name: 'L3', colour: '--l3', metric: 'cost_l3'},
	{name: 'memory', colour: '--mem', metric: 'cost_memory'},
	{name: 'code', colour: '--hop1', metric: 'cost_code'},
	{name: 'page walks', colour: '--hop2', metric: 'cost_walks'},
	{name: 'other threads\' lines', colour: '--c2c', metric: 'cost_sharing'},
];
const hasCosts = item => costs.some(({metric}) => item.metrics && item.metrics[metric] && item.metrics[metric].value > 0);

// The costs are what is looked at first.
function offerCosts(items) {
	if (items.some(hasCosts))
		$('served-scale').prepend(make('option', {value: 'cost', selected: ''}, 'cost'));
}

// The last level is counted under two names where it is L2.
function lastIsL2(counts) {
	const same = (one, other) => Boolean(counts[one] && counts[other] && counts[one].value !== null
		&& counts[one].value === counts[other].value);
	return same('l2_accesses', 'llc_accesses') && same('l2_misses', 'llc_misses');
}

const uncounted = name => ({value: null, status: 'unavailable', reason: name + ' was not counted in this run'});

// What missed the last level of which the misses are known; else no bar would be whole.
function furtherOut(item) {
	const [, l1, , l2, , memory] = levels.flatMap(level => level.from).map(name => item.counts[name] || uncounted(name));
	const last = l2.value === null ? l1 : l2;
	return memory.value === null ? last : {value: null, status: 'unavailable', reason: 'all levels are counted'};
}

// Where it is counted which level data references were served by, the bars are of those
// alone, and so have the shares of the answer and of the table.
const hasReferences = item => [levels[0], levels[3]].every(({refs}) => item.counts[refs] && item.counts[refs].value !== null);

function served(item, level) {
	if (level.metric)
		return item.metrics[level.metric] || uncounted(level.metric);
	if (hasReferences(item))
		return level.refs ? item.counts[level.refs] || uncounted(level.refs)
			: {value: null, status: 'unavailable', reason: 'all levels are counted'};
	if (!level.from.length)
		return furtherOut(item);
	const inputs = level.from.map(name => item.counts[name] || uncounted(name));
	const missing = inputs.find(v => v.value === null);
	if (level.name === 'L3' && item.l2IsLast)
		return {value: null, status: 'unavailable', reason: 'L2 is the last level'};
	if (missing)
		return {value: null, status: 'unavailable', reason: missing.reason};
	const value = inputs.length > 1 ? inputs[0].value - inputs[1].value : inputs[0].value;
	if (value < 0)
		return {value: null, status: 'unavailable', reason: 'more misses than accesses were counted'};
	return {value, status: worst(inputs), reason: null, coverage: Math.min(...inputs.map(v => v.coverage)), error: null};
}

const weight = item => levels.reduce((sum, level) => sum + (served(item, level).value || 0), 0);

// Those with the most, if there are many; the most first, or in their own order.
function heaviest(items, ordered) {
	const known = items.filter(item => levels.some(level => served(item, level).value !== null));
	const bars = known.map(item => [item.whole ? Infinity : item.weight ?? weight(item), item]).sort((a, b) => b[0] - a[0] || a[1].order - b[1].order)
		.slice(0, BARS).map(pair => pair[1]);
	return ordered ? bars : bars.sort((a, b) => a.order - b.order);
}

function servedNote(bars, n, many, more, shown) {
	if (shown.some(level => level.metric))
		return 'Cycles that misses cost, by the level that had the line.' + more
			+ (n > bars.length ? '  The ' + bars.length + ' ' + many + ' that cost most.' : '') + '  Shares of references: the other bars.';
	let text = (bars.every(hasReferences) ? 'Data references, by the level that had their line.'
		: 'References per level that found their line there.  Outer levels also serve instruction fetches,'
			+ ' and hardware prefetches where there are any.') + more;
	if (!bars.length)
		return 'Not counted in this run: it takes the group cache.';
	if (bars.every(item => item.l2IsLast))
		text += '  L2 is the last level.';
	if (n > bars.length)
		text += '  The ' + bars.length + ' ' + many + (bars.some(item => item.weight != null) ? ' that cost most.' : ' with the most references.');
	if (shown.some(level => !level.from.length))
		text += '  Further out: what missed, where it is not known which level behind that had it.';
	for (const level of levels)
		if (!shown.includes(level) && level.from.length && !(level.name === 'L3' && bars[0].l2IsLast))
			text += '  ' + level.name + ' is not shown: ' + served(bars[0], level).reason + '.';
	return text;
}

function servedTable(bars, shown, what) {
	const header = make('tr', {}, make('th', {scope: 'col'}, what),
		...shown.map(level => make('th', {scope: 'col'}, level.name)));
	$('served-table').replaceChildren(make('thead', {}, header), make('tbody', {}, ...bars.map(item =>
		make('tr', {}, make('th', {scope: 'row', title: item.name}, item.name),
			...shown.map(level => cell(served(item, level)))))));
}

function servedChart(bars, shown, share) {
	const totals = bars.map(weight), context = $('served').getContext('2d');
	const height = (v, i) => v.value === null ? null : share ? (totals[i] ? 100 * v.value / totals[i] : 0) : v.value;

	return {
		type: 'bar',
		data: {
			labels: bars.map(item => clip(item.name)),
			datasets: shown.map(level => {
				const values = bars.map(item => served(item, level));
				return {
					label: level.name,
					data: values.map(height),
					backgroundColor: values.map(v => fill(context, css(level.colour), differs(v))),
					maxBarThickness: 20,
				};
			}),
		},
		options: {
			indexAxis: 'y',
			scales: {
				x: {stacked: true, max: share ? 100 : undefined,
					ticks: {callback: v => share ? v + ' %' : short(v)}},
				y: {stacked: true, ticks: {autoSkip: false}},
			},
			plugins: {
				legend: {labels: {generateLabels: c => shown.map((level, i) => ({text: level.name, fontColor: css('--text'),
					fillStyle: css(level.colour), strokeStyle: css(level.colour),
					datasetIndex: i, hidden: !c.isDatasetVisible(i)}))}},
				tooltip: {callbacks: {
					title: items => bars[items[0].dataIndex].name,
					label: item => shown[item.datasetIndex].name + ': '
						+ explain(served(bars[item.dataIndex], shown[item.datasetIndex]))}},
			},
		},
	};
}

// what: [one, many] of the items; more: a sentence for the note; ordered: the most first.
function drawServed(items, [what, many], more, ordered) {
	const bars = heaviest(items, ordered), share = $('served-scale').value === 'share';
	const shown = $('served-scale').value === 'cost' ? costs.filter(({metric}) => bars.some(item => item.metrics[metric] && item.metrics[metric].value > 0))
		: levels.filter(level => bars.some(item => served(item, level).value !== null));

	$('served-note').textContent = servedNote(bars, items.length, many, more, shown);
	servedTable(bars, shown, what);
	for (const id of ['served-box', 'served-controls', 'served-numbers'])
		$(id).hidden = !bars.length;
	barsHeight($('served-box'), bars.length);
	$('served').setAttribute('aria-label', 'Stacked bars, one per ' + what + ': '
		+ shown.map(level => level.name).join(', ') + '.  The same numbers are in the table below.');
	draw($('served'), bars.length ? servedChart(bars, shown, share) : null);
}
