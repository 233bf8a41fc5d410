// SPDX-License-Identifier: MIT
// ---- over time ----

const LINES = 6, POINTS = 500;
const dashes = {simulated: [6, 3], estimated: [2, 3]};
const colours = ['--text', '--l1', '--mem', '--l2', '--l3', '--sim', '--link'];
const timed = report.processes.filter(process => process.series && process.series.lines.length);

// Working sets have names with a colon; what they are in intervals before the first is unknown.
const WORKING_SET = {'working set: data pages': 'data_pages', 'working set: data lines': 'data_lines',
	'working set: code pages': 'code_pages', 'working set: code lines': 'code_lines'};

const courseOf = (line, name) => WORKING_SET[name] ? (line.working_set || {})[WORKING_SET[name]] : line.counts[name];

function valuesOf(series, line, name) {
	const values = Array(line.first).fill(WORKING_SET[name] ? null : 0).concat(courseOf(line, name).values);
	return series.ends_s.map((end, i) => values[i]);
}

const sum = values => values.reduce((all, value) => all + (value || 0), 0);

// The whole process, and the regions with the most.
function courseLines(series, name) {
	const lines = series.lines.filter(line => courseOf(line, name))
		.map(line => ({path: line.path.join(' / ') || 'whole process', whole: !line.path.length,
			status: courseOf(line, name).status, values: valuesOf(series, line, name),
			errors: Array(line.first).fill(0).concat(courseOf(line, name).errors || []), reason: courseOf(line, name).reason,
			reach: WORKING_SET[name] === 'data_pages' ? Array(line.first).fill(null).concat(line.working_set.tlb_reach) : []}));
	return lines.filter(line => line.whole).concat(lines.filter(line => !line.whole && sum(line.values) > 0)
		.sort((a, b) => sum(b.values) - sum(a.values)).slice(0, LINES));
}

const seconds = at => full(at) + ' s';

// Where the intervals end: in instructions of the process, where each interval has them, or in time.
function axisOf(series, along) {
	const whole = series.lines.find(line => !line.path.length), values = whole && whole.counts.instructions
		? valuesOf(series, whole, 'instructions') : [null];
	if (along === 's' || values.includes(null) || !sum(values))
		return {ends: series.ends_s, write: seconds, title: series.clock === 'simulator' ? 's of the simulator' : 's'};
	let so_far = 0;
	return {ends: values.map(value => so_far += value), write: short, title: 'instructions of the process'};
}

// Coverage is known of the whole run only.
function courseCell(value, line, i) {
	const status = line.status, reach = line.reach[i], error = line.errors[i];
	if (value === null)
		return make('td', {class: 'unavailable', title: 'unavailable: ' + (line.reason || 'nothing was counted of it in this interval')}, '—');
	const title = full(value) + (error ? ' ± ' + full(error) : '') + ', ' + status + (reach ? ', TLB reach: ' + reach : '');
	const td = make('td', {class: status, title}, full(value) + (reach ? ' (' + reach + ')' : ''));
	td.dataset.value = value;
	return td;
}

function courseNote(series, lines) {
	let text = 'Counts in intervals of ' + full(series.interval_s) + ' s'
		+ (series.clock === 'simulator' ? ' of the simulator\'s time.' : '.');
	text += '  A region\'s execution is counted where it ends; what is more than there was in that interval'
		+ ' is in the intervals before (estimated).';
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
				...lines.map(line => courseCell(line.values[i], line, i))))));
}

// What an interval counted is drawn from its begin, where the one before ends, to its end.
function drawCourse() {
	$('over-time').hidden = !timed.length;
	if (!timed.length)
		return;
	const series = timed[$('course-process').value].series, name = $('course-of').value;
	const axis = axisOf(series, $('course-along').value);
	const lines = courseLines(series, name), simulated = lines.some(line => line.status === 'simulated');
	$('course-note').textContent = courseNote(series, lines);
	courseTable(series, lines, name);
	drawLanes(series, name, axis);
	$('course').setAttribute('aria-label', name + ' over ' + axis.title + ', a line for the whole process and for each of '
		+ count(lines.length - 1, 'region', 'regions') + '.  The same numbers are in the table below.');
	draw($('course'), {
		type: 'line',
		data: {datasets: lines.map((line, i) => ({
			label: plain(clip(line.path)),
			data: [0, ...axis.ends].map((x, j) => ({x, y: line.values[Math.max(0, j - 1)]})), stepped: 'after',
			borderColor: css(colours[i]), backgroundColor: css(colours[i]),
			borderDash: dashes[line.status] || [],
			borderWidth: line.whole ? 2.5 : 1.5, pointRadius: 0, spanGaps: false,
		}))},
		options: {
			interaction: {mode: 'index', intersect: false},
			scales: {
				x: {type: 'linear', min: 0, max: axis.ends[axis.ends.length - 1], title: {display: true, text: axis.title}, ticks: {callback: v => short(v)}},
				y: {beginAtZero: true, ticks: {callback: v => short(v)},
					title: {display: true, text: name + (simulated ? ' (simulated)' : '') + ' per interval'}},
			},
			plugins: {legend: lineLegend(), tooltip: {callbacks: {
				title: items => 'up to ' + axis.write(axis.ends[Math.max(0, items[0].dataIndex - 1)]),
				label: item => plain(lines[item.datasetIndex].path) + ': ' + full(item.parsed.y) + ', '
					+ lines[item.datasetIndex].status,
			}}},
		},
	});
}

function startCourse() {
	const names = new Set(timed.flatMap(process => Object.keys(process.series.lines[0].counts)));
	if (timed.some(process => process.series.lines[0].working_set))
		Object.keys(WORKING_SET).forEach(name => names.add(name));
	for (const name of names)
		$('course-of').append(make('option', {value: name}, name));
	const first = [...names].find(name => name.includes('miss'));
	if (first)
		$('course-of').value = first;
	if (timed.some(({series}) => axisOf(series).ends !== series.ends_s))
		$('course-along').append(make('option', {value: 'instructions'}, 'instructions'));
	$('course-along').append(make('option', {value: 's'}, 'time'));
	timed.forEach((process, i) => $('course-process').append(make('option', {value: i},
		'process ' + process.pid + (process.image ? ', image ' + process.image : ''))));
	$('course-process').parentNode.hidden = timed.length < 2;
	for (const id of ['course-of', 'course-along', 'course-process'])
		$(id).addEventListener('change', drawCourse);
}
