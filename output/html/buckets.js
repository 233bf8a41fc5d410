// SPDX-License-Identifier: MIT
// The chart of what misses waited for: a part of a bar is a level, and its latency.
const BARS = 20, LEAST_BAR = 0.005; // of all bars together
const buckets = {
	dcache: 'load_from_local' in report.counts
		? [['load_from_l2', 'L2', '--l2', 'l2'], ['load_from_llc', 'L3', '--l3', 'llc'],
			['load_from_local', 'local memory', '--mem', 'memory'], ['loads_one_hop', 'one hop', '--hop1', 'one_hop'],
			['loads_two_hop', 'two hops', '--hop2', 'two_hops'],
			['near_cache', 'another core', '--c2c', 'near_cache'],
			['loads_remote_cache', 'another socket\'s caches', '--far', 'far_cache']]
		: [['load_from_l2', 'L2', '--l2', 'l2'], ['load_from_llc', 'L3', '--l3', 'llc'],
			['load_from_memory', 'memory', '--mem', 'memory']],
	icache: [['fetch_from_l2', 'L2', '--l2', 'l2'], ['fetch_from_llc', 'L3', '--l3', 'llc'],
		['fetch_from_memory', 'memory', '--mem', 'memory']],
	dtlb: [['dtlb_from_second_level', 'second-level TLB', '--l2'], ['walks', 'page walk', '--mem']],
}[report.measurement] || [];
const WHAT = {dcache: 'Lines that loads waited for', icache: 'Lines of code that were waited for',
	dtlb: 'Pages that the first-level TLB did not have'};
const cyclesOf = bucket => (report.latencies || {})[bucket[3]] || null;

// Of a row: how many, or the cycles in which the level delivers them.
function bucketValue(row, bucket, cycles) {
	const v = valueAt(row.one, bucket[0]), each = cyclesOf(bucket) || 0;
	if (!cycles || v.value === null)
		return v;
	return cyclesOf(bucket) !== null || v.value === 0 ? {...v, value: v.value * each, status: 'estimated', error: v.error == null ? null : v.error * each}
		: {value: null, status: 'unavailable', reason: 'the machine file does not say the latency of ' + bucket[1]};
}

const whoSays = bucket => ({assumed: ', assumed', user: ', yours'})[(report.latencies_from || {})[bucket[3]]] || '';

function bucketTitle(bucket) {
	return bucket[1] + (cyclesOf(bucket) === null ? '' : ' (' + cyclesOf(bucket) + ' cycles' + whoSays(bucket) + ')');
}

function bucketsNote(bars, rows, cycles) {
	let text = (WHAT[report.measurement] || '') + ', by the level that had them.';
	if (cycles)
		text += '  Cycles: in which these levels deliver them; a processor hides some of that.';
	else if (buckets.some(bucket => bucket[3]) && !buckets.some(bucket => cyclesOf(bucket) !== null))
		text += '  No cycles: the machine file does not say the latencies.';
	if (rows.length > bars.length)
		text += '  The ' + bars.length + ' with the most; the table further down has all.';
	return text;
}

function bucketsTable(bars, by, cycles, shown) {
	$('buckets-table').replaceChildren(
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, by),
			...shown.map(bucket => make('th', {scope: 'col'}, bucketTitle(bucket))))),
		make('tbody', {}, ...bars.map(row => make('tr', {}, make('th', {scope: 'row', title: row.name}, row.name),
			...shown.map(bucket => cell(bucketValue(row, bucket, cycles)))))));
}

function bucketsChart(bars, shown, what) {
	const amount = (row, bucket) => bucketValue(row, bucket, what === 'cycles').value;
	const totals = bars.map(row => shown.reduce((sum, bucket) => sum + (amount(row, bucket) || 0), 0));
	const share = what === 'share', context = $('buckets').getContext('2d');

	return {
		type: 'bar',
		data: {labels: bars.map(row => clipEnd(row.label)), datasets: shown.map(bucket => ({
			label: bucketTitle(bucket), maxBarThickness: 20,
			data: bars.map((row, i) => share ? (totals[i] ? 100 * (amount(row, bucket) || 0) / totals[i] : 0) : amount(row, bucket)),
			backgroundColor: fill(context, css(bucket[2]), what === 'cycles'),
		}))},
		options: {
			indexAxis: 'y',
			scales: {x: {stacked: true, max: share ? 100 : undefined, ticks: {callback: v => share ? v + ' %' : short(v)}},
				y: {stacked: true, ticks: {autoSkip: false}}},
			plugins: {
				legend: {labels: {generateLabels: c => shown.map((bucket, i) => ({text: bucketTitle(bucket),
					fontColor: css('--text'), fillStyle: css(bucket[2]), strokeStyle: css(bucket[2]),
					datasetIndex: i, hidden: !c.isDatasetVisible(i)}))}},
				tooltip: {callbacks: {
					title: items => bars[items[0].dataIndex].name,
					label: item => shown[item.datasetIndex][1] + ': '
						+ explain(bucketValue(bars[item.dataIndex], shown[item.datasetIndex], what === 'cycles'), what === 'cycles' ? 'cycles' : '')}},
			},
		},
	};
}

// tables: the rows by name of what bars can be.
function drawBuckets(tables) {
	const by = $('buckets-by').value, what = $('buckets-of').value, cycles = what === 'cycles', rows = tables[by];
	const weight = row => buckets.reduce((sum, bucket) => sum + (bucketValue(row, bucket, cycles).value || 0), 0);
	const whole = rows.reduce((sum, row) => sum + weight(row), 0);
	const bars = rows.map(row => [weight(row), row]).filter(pair => pair[0] > 0 && pair[0] >= LEAST_BAR * whole)
		.sort((a, b) => b[0] - a[0] || a[1].order - b[1].order).map(pair => pair[1]);
	const most = bars.slice(0, BARS);
	const shown = buckets.filter(bucket => most.some(row => bucketValue(row, bucket, cycles).value !== null));

	$('buckets-note').textContent = bars.length ? bucketsNote(most, rows, cycles)
		: 'There is nothing to show' + (estimates ? ': of a sample, this is not known by place.' : '.');
	bucketsTable(most, by, cycles, shown);
	$('buckets-box').hidden = !bars.length;
	barsHeight($('buckets-box'), most.length);
	$('buckets').setAttribute('aria-label', 'Stacked bars: ' + shown.map(bucketTitle).join(', ')
		+ '.  The same numbers are in the table below.');
	draw($('buckets'), bars.length ? bucketsChart(most, shown, what) : null);
}

function startBuckets(tables) {
	const known = buckets.some(bucket => cyclesOf(bucket) !== null);
	for (const [value, text] of [['count', report.measurement === 'dtlb' ? 'pages' : 'lines'], ['share', 'shares'],
		...(known ? [['cycles', 'cycles']] : [])])
		$('buckets-of').append(make('option', {value}, text));
	$('buckets-section').hidden = !buckets.length;
	for (const id of ['buckets-by', 'buckets-of'])
		$(id).addEventListener('change', () => drawBuckets(tables));
}
