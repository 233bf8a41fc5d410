// SPDX-License-Identifier: MIT
// ---- where in the run each region counts how much: a lane for each of them ----

const BINS = 80, LANES = 16, LEAST_SHADE = 0.12;
let laneAt = {lane: 0, part: 0}, laneRows = [];

// What each interval has, spread evenly over it, in n parts of the axis that are equally long.
function spreadEvenly(values, ends, n) {
	const size = ends[ends.length - 1] / n, parts = Array(n).fill(0);
	values.forEach((value, i) => {
		const from = i ? ends[i - 1] : 0, to = ends[i];
		const first = Math.min(n - 1, Math.floor(from / size)), last = Math.min(n - 1, Math.floor(to / size));
		for (let part = first; part <= last && value; part++) {
			const share = to > from ? (Math.min(to, (part + 1) * size) - Math.max(from, part * size)) / (to - from) : 1;
			parts[part] += value * Math.max(0, share);
			if (to === from)
				break;
		}
	});
	return parts;
}

// Those with the most, in the order of the table of regions.
function linesOfLanes(series, name) {
	const known = line => line.counts[name] && line.counts[name].values.every(value => value !== null);
	const order = line => regions.findIndex(region => keyOf(region.path) === keyOf(line.path));
	const total = line => sum(line.counts[name].values);
	const regions = series.lines.filter(line => line.path.length && known(line) && total(line) > 0)
		.sort((a, b) => total(b) - total(a)).slice(0, LANES);
	return series.lines.filter(line => !line.path.length && known(line)).concat(regions.sort((a, b) => order(a) - order(b)));
}

const laneTitle = ({line}) => plain(line.path.join(' / ') || 'whole process');

function laneText(lane, part, axis) {
	const size = axis.ends[axis.ends.length - 1] / lane.parts.length, value = lane.parts[part];
	return laneTitle(lane) + ', ' + axis.write(part * size) + ' to ' + axis.write((part + 1) * size) + ': ~'
		+ full(Math.round(value * 10) / 10) + (lane.most ? ', ' + full(value / lane.most, 'ratio') + ' of the most' : '');
}

function laneStrip(lane, axis, name) {
	const n = lane.parts.length, peak = lane.parts.indexOf(Math.max(...lane.parts));
	const strip = make('span', {class: 'strip', role: 'img', 'aria-label': name + '; most: ' + laneText(lane, peak, axis)});
	lane.parts.forEach((value, i) => {
		if (!value && !lane.ran[i])
			return;
		const shade = Math.max(LEAST_SHADE, lane.most ? value / lane.most : 0);
		const part = make('i', {title: laneText(lane, i, axis),
			style: 'left:' + 100 * i / n + '%;width:' + 100 / n + '%;opacity:' + shade.toFixed(3)});
		Object.assign(part.dataset, {part: i, value});
		strip.append(part);
	});
	return strip;
}

// A way to its row of the table.
function laneName(lane) {
	const {path} = lane.line;
	if (!path.length)
		return make('span', {class: 'lane-name'}, 'whole process');
	const button = make('button', {type: 'button', class: 'link lane-name', title: 'show ' + laneTitle(lane) + ' in the table'}, plain(path[path.length - 1]));
	button.style.paddingLeft = Math.min(4, path.length - 1) * 0.8 + 'rem';
	button.addEventListener('click', () => showRegion(path));
	return button;
}

// Where the arrow keys are.
function pointLane(axis, dx, dy) {
	const within = (at, n) => Math.max(0, Math.min(n - 1, at));
	const lane = within(laneAt.lane + dy, laneRows.length), n = laneRows[lane].parts.length, part = within(laneAt.part + dx, n);

	laneAt = {lane, part};
	for (const pointer of $('lanes').querySelectorAll('.pointer'))
		pointer.remove();
	$('lanes').querySelectorAll('.strip')[lane].append(
		make('b', {class: 'pointer', style: 'left:' + 100 * part / n + '%;width:' + 100 / n + '%'}));
	$('lanes-status').textContent = laneText(laneRows[lane], part, axis);
}

// Working sets do not add up, and have no lanes.
function lanesOf(series, name, axis) {
	const n = Math.min(BINS, axis.ends.length);
	const parts = (line, of) => of in line.counts && line.counts[of].values.every(value => value !== null)
		? spreadEvenly(Array(line.first).fill(0).concat(line.counts[of].values), axis.ends, n) : Array(n).fill(0);
	const lanes = (WORKING_SET[name] ? [] : linesOfLanes(series, name))
		.map(line => ({line, parts: parts(line, name), ran: parts(line, 'instructions')}));
	for (const one of lanes)
		one.most = Math.max(...lanes.filter(other => !other.line.path.length === !one.line.path.length).flatMap(other => other.parts));
	return lanes;
}

function drawLanes(series, name, axis) {
	const length = axis.ends[axis.ends.length - 1];

	laneRows = lanesOf(series, name, axis);
	$('lanes-section').hidden = laneRows.length < 2 || axis.ends.length < 2;
	if ($('lanes-section').hidden)
		return;
	$('lanes-note').textContent = name + ' over ' + axis.title + ', in ' + laneRows[0].parts.length + ' parts of the same length (estimated: what an interval counted'
		+ ' is spread evenly over it).  The stronger the colour, the more; pale: the region ran, and had hardly any.  The whole process has a scale of its own.';
	$('lanes').replaceChildren(...laneRows.flatMap(lane => [laneName(lane), laneStrip(lane, axis, name)]),
		make('span', {class: 'lane-name'}), make('span', {class: 'lane-ends'}, ...[0, 0.5, 1].map(at => make('small', {}, axis.write(at * length)))));
	$('lanes').setAttribute('aria-label', name + ' of regions over ' + axis.title + '; arrow keys read its parts');
	$('lanes').onkeydown = event => {
		const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key] || [0, 0];
		if (event.target === $('lanes') && (dx || dy)) {
			event.preventDefault();
			pointLane(axis, dx, dy);
		}
	};
	$('lanes-status').textContent = '';
}
