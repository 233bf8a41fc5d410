// SPDX-License-Identifier: MIT
// Call paths as a flame graph that hangs from the top: below a frame what it calls, as wide
// as what that has with all that it calls itself.
const FLAME_ROW = 21; // pixels
const FLAME_COLOURS = 5; // and one for all other modules
const flame = jsonOf('stacks');
const flameNodes = [];
let flameZoom = null, flameAt = null, flameWidth = 0;

const flameOf = () => Number($('flame-of').value);
const flameUnit = () => flame.quantities[flameOf()];

// stacks: [parent, frame, calls, what it has by itself...], parents first.
function flameRead() {
	for (const [parent, frame, calls, ...own] of flame.stacks) {
		const [name, module] = flame.frames[frame], above = flameNodes[parent] || null;
		const node = {id: flameNodes.length, above, calls, own, all: own.slice(), below: [],
			depth: above ? above.depth + 1 : 0, name: plain(name), module: plain(module)};
		flameNodes.push(node);
		if (above)
			above.below.push(node);
	}
	for (const node of flameNodes.slice(1).reverse())
		node.all.forEach((n, i) => { node.above.all[i] += n; });
}

// ---- colours: those of the modules that have most ----

let flameModules = [];

function flameChangeLegend() {
	const swatch = (name, text) => make('li', {}, make('span', {class: 'swatch ' + name}), text);
	$('flame-legend').append(swatch('more3', 'more: by 10 % of the whole'), swatch('more2', '1 %'), swatch('more1', '0.1 %'),
		swatch('same', 'less than that'), swatch('less1', 'less: by 0.1 % of the whole'), swatch('less2', '1 %'), swatch('less3', '10 %'));
}

function flameLegend() {
	if (flame.pairs) {
		flameChangeLegend();
		return;
	}
	const sums = new Map();
	for (const node of flameNodes)
		sums.set(node.module, (sums.get(node.module) || 0) + node.own[flame.misses]);
	sums.delete('');
	flameModules = [...sums].sort((a, b) => b[1] - a[1]).map(([module]) => module);
	const swatch = (i, text) => make('li', {}, make('span', {class: 'swatch flame' + i}), text);
	$('flame-legend').append(...flameModules.slice(0, FLAME_COLOURS).map((module, i) => swatch(i, lastPart(module))),
		...(flameModules.length > FLAME_COLOURS ? [swatch(FLAME_COLOURS, 'others')] : []));
}

// Of two runs: by how much of the whole a path changed, after less before.
const flamePair = () => [flameOf() % flame.pairs, flameOf() % flame.pairs + flame.pairs];

function flameChange(node) {
	const [after, before] = flamePair();
	return node.all[after] - node.all[before];
}

function flameChangeColour(node) {
	const change = flameChange(node), whole = Math.max(...flamePair().map(of => flameNodes[0].all[of]));
	const level = [0.001, 0.01, 0.1].filter(least => Math.abs(change) >= least * whole && change).length;
	return level ? (change > 0 ? 'more' : 'less') + level : 'same';
}

function flameColour(node) {
	if (flame.pairs)
		return flameChangeColour(node);
	const at = flameModules.indexOf(node.module);
	return 'flame' + (at < 0 || at > FLAME_COLOURS ? FLAME_COLOURS : at);
}

// ---- what a frame says ----

function flameChangeText(node) {
	const [after, before] = flamePair(), change = flameChange(node), was = node.all[before];
	return node.name + ': ' + flame.quantities[before] + ' ' + was.toLocaleString('en-US') + ', after ' + node.all[after].toLocaleString('en-US')
		+ ' (' + (change > 0 ? '+' : '') + change.toLocaleString('en-US')
		+ (was && change ? ', ' + (change > 0 ? '+' : '') + (100 * change / was).toFixed(1) + ' %' : '') + ') with what it calls; simulated';
}

function flameText(node) {
	if (flame.pairs)
		return flameChangeText(node);
	const of = flameOf(), all = node.all[of], whole = flameNodes[0].all[of];
	return node.name + (node.module ? ' (' + lastPart(node.module) + ')' : '') + ': ' + count(all, flameUnit(), flameUnit())
		+ ' with what it calls' + (whole ? ', ' + full(all / whole, 'ratio') + ' of the run' : '') + '; '
		+ node.own[of].toLocaleString('en-US') + ' by itself; ' + (report.source === 'sampled' ? 'sampled' : (node.above ? count(node.calls, 'call', 'calls') + '; ' : '') + 'simulated');
}

// ---- where frames are ----

const flameBelow = node => node.below.filter(one => one.all[flameOf()] > 0)
	.sort((a, b) => b.all[flameOf()] - a.all[flameOf()] || a.id - b.id);

// Those that can be seen: [node, left, width], of 1; callers of the one that is looked at
// are as wide as that.
function flamePlaces() {
	const of = flameOf(), whole = flameZoom.all[of], places = [];
	for (let above = flameZoom.above; above; above = above.above)
		places.unshift([above, 0, 1]);
	const waiting = whole ? [[flameZoom, 0, 1]] : [];
	while (waiting.length) {
		const place = waiting.pop(), [node, left] = place;
		places.push(place);
		let at = left;
		for (const one of flameBelow(node)) {
			const width = one.all[of] / whole;
			if (width * flameWidth < 1)
				break;
			waiting.push([one, at, width]);
			at += width;
		}
	}
	return places;
}

function flameFrame([node, left, width]) {
	const text = flameText(node);
	const button = make('button', {type: 'button', class: 'frame ' + flameColour(node)
		+ (node.depth < flameZoom.depth ? ' above' : ''), tabindex: node === flameAt ? '0' : '-1',
	title: text, 'aria-label': text, 'aria-current': node === flameZoom && 'true', 'data-id': String(node.id)},
	width * flameWidth > 20 ? node.name : '');
	button.dataset.value = node.all[flameOf()];
	button.dataset.own = node.own[flameOf()];
	button.style.left = 100 * left + '%';
	button.style.width = 100 * width + '%';
	button.style.top = FLAME_ROW * node.depth + 'px';
	return button;
}

const flameButton = node => node && $('flame').querySelector('[data-id="' + node.id + '"]');

function drawFlame() {
	flameWidth = $('flame').clientWidth;
	const places = flamePlaces();
	if (!places.some(([node]) => node === flameAt))
		flameAt = flameZoom;
	$('flame').style.height = FLAME_ROW * Math.max(1, ...places.map(([node]) => node.depth + 1)) + 'px';
	$('flame').replaceChildren(...places.map(flameFrame));
	$('flame-empty').hidden = places.length > 0;
	$('flame-whole').disabled = flameZoom === flameNodes[0];
	$('flame-detail').textContent = flameText(flameAt);
	flameSearch();
}

// ---- search ----

function flameSearch() {
	const wanted = $('flame-search').value.toLowerCase(), of = flameOf(), below = new Set();
	const hits = wanted ? flameNodes.filter(node => node.name.toLowerCase().includes(wanted)) : [], found = new Set(hits);
	let sum = 0;
	// What is below another one is that one's already.
	for (const node of flameNodes) {
		if (found.has(node) && !below.has(node.above))
			sum += node.all[of];
		if (found.has(node) || below.has(node.above))
			below.add(node);
	}
	$('flame').classList.toggle('searched', wanted !== '');
	for (const button of $('flame').children)
		button.classList.toggle('found', found.has(flameNodes[button.dataset.id]));
	$('flame-found').textContent = wanted ? count(hits.length, 'path ends', 'paths end') + ' in such a function; they have '
		+ count(sum, flameUnit(), flameUnit()) + (flameNodes[0].all[of] ? ', ' + full(sum / flameNodes[0].all[of], 'ratio') + ' of the run' : '')
		+ (flame.left_out ? '; paths that are left out are not searched' : '') : '';
}

// What is found outside of what is looked at can be seen in the whole run.
function flameFind() {
	flameSearch();
	const wanted = $('flame-search').value.toLowerCase();
	if (!wanted || flameZoom === flameNodes[0] || $('flame').querySelector('.found:not(.above)')
		|| !flameNodes.some(node => node.name.toLowerCase().includes(wanted)))
		return;
	flameZoom = flameAt = flameNodes[0];
	drawFlame();
}

// The widest of those that were found.
function flameGo() {
	const hits = [...$('flame').querySelectorAll('.found')].sort((a, b) => b.dataset.value - a.dataset.value);
	if (hits.length)
		hits[0].focus();
}

// ---- by mouse and by keyboard ----

function flameShow(node) {
	flameZoom = flameAt = node;
	drawFlame();
	const button = flameButton(node);
	if (button)
		button.focus();
}

function flameMove(node, key) {
	const row = node.above ? flameBelow(node.above) : [node], at = row.indexOf(node);
	return {ArrowUp: node.above, ArrowDown: flameBelow(node)[0], ArrowLeft: row[at - 1], ArrowRight: row[at + 1],
		Home: flameNodes[0]}[key];
}

function flameKey(event) {
	const button = event.target.closest('.frame');
	if (!button || event.altKey || event.ctrlKey || event.metaKey)
		return;
	if (event.key === 'Escape')
		flameShow(flameZoom.above || flameZoom);
	else if (!/^(Arrow|Home)/.test(event.key))
		return;
	const to = flameButton(flameMove(flameNodes[button.dataset.id], event.key));
	if (to)
		to.focus();
	event.preventDefault();
}

function flameEnter(event) {
	const button = event.target.closest('.frame');
	if (!button)
		return;
	$('flame-detail').textContent = flameText(flameNodes[button.dataset.id]);
	if (event.type !== 'focusin')
		return;
	for (const other of $('flame').querySelectorAll('[tabindex="0"]'))
		other.setAttribute('tabindex', '-1');
	button.setAttribute('tabindex', '0');
	flameAt = flameNodes[button.dataset.id];
}

function flameNote() {
	const cut = flame.left_out ? '  Of ' + count(flame.left_out + flameNodes.length, 'path', 'paths') + ', '
		+ flame.left_out.toLocaleString('en-US') + ' have less than ' + flame.percent
		+ ' % of each of these counts: what they have is part of their callers\' own.' : '';
	$('flame-note').textContent = 'Each function stands above those that it calls, and is as wide as what it has with all that it calls; '
		+ 'colours are ' + (flame.pairs ? 'changes: what is gone is there if widths are those before' : 'load modules') + '.  A click or Enter looks closer, Escape steps back, arrows go from one to the next.' + cut;
}

function startFlame() {
	$('flame-section').hidden = !flame;
	if (!flame)
		return;
	flameRead();
	flameZoom = flameAt = flameNodes[0];
	$('flame-of').append(...flame.quantities.map((name, value) =>
		make('option', {value, selected: value === flame.misses && ''}, name)));
	flameLegend();
	flameNote();
	$('flame-of').addEventListener('change', drawFlame);
	$('flame-search').addEventListener('input', flameFind);
	// The key is not also one of the frame that it leads to.
	$('flame-search').addEventListener('keydown', event => {
		if (event.key !== 'Enter')
			return;
		event.preventDefault();
		flameGo();
	});
	$('flame-whole').addEventListener('click', () => flameShow(flameNodes[0]));
	$('flame').addEventListener('click', event => {
		const button = event.target.closest('.frame');
		if (button)
			flameShow(flameNodes[button.dataset.id]);
	});
	$('flame').addEventListener('keydown', flameKey);
	$('flame').addEventListener('focusin', flameEnter);
	$('flame').addEventListener('mouseover', flameEnter);
	$('flame').addEventListener('mouseleave', () => { $('flame-detail').textContent = flameText(flameAt); });
	new ResizeObserver(() => { if ($('flame').clientWidth !== flameWidth) drawFlame(); }).observe($('flame'));
	drawFlame();
}
