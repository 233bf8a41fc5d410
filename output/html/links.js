// SPDX-License-Identifier: MIT
// ---- ways between functions, lines and data: which missed in which ----

const FEW_LINKS = 3;
const functionKey = (module, name) => JSON.stringify([module, name]);
const functionRows = new Map(), dataRows = new Map();
// What was missed, by function and by line: {row, misses} of data, the most first.
const dataOfFunctions = new Map(), dataOfLines = new Map();

function addMissed(map, key, row, misses) {
	const those = map.get(key) || map.set(key, []).get(key), same = those.find(one => one.row === row);
	if (same)
		same.misses += misses;
	else
		those.push({row, misses});
}

function startLinks(functions, data) {
	for (const row of functions)
		functionRows.set(functionKey(row.one.module, row.one.function), row);
	for (const row of data) {
		dataRows.set(row.one.name, row);
		for (const {module, function: name, file, line, misses} of row.one.places || []) {
			addMissed(dataOfFunctions, functionKey(module, name), row, misses);
			if (file && line)
				addMissed(dataOfLines, file + ':' + line, row, misses);
		}
	}
	for (const those of [...dataOfFunctions.values(), ...dataOfLines.values()])
		those.sort((a, b) => b.misses - a.misses);
}

function linkTo(text, title, go) {
	const button = make('button', {type: 'button', class: 'link', title}, text);
	button.addEventListener('click', go);
	return button;
}

const linkToFunction = row => linkTo(row.label, 'show ' + row.name + ' among the functions', () => grids[0].show(row));
const linkToData = row => linkTo(row.label, 'show ' + row.name + ' among the data', () => grids[1].show(row));

// The first of them, each with its number; those of a sample have no interval, and are not shown.
function linkList(what, links) {
	if (!links.length)
		return [];
	const number = misses => estimates ? '' : ' (' + short(misses) + ')';
	const parts = links.slice(0, FEW_LINKS).flatMap(([link, misses], i) => [i ? ', ' : '', link, number(misses)]);
	return [make('small', {class: 'links'}, what + ' ', ...parts, links.length > FEW_LINKS ? ', …' : '')];
}

const dataLinks = those => linkList('misses in', (those || []).map(({row, misses}) => [linkToData(row), misses]));

// Of data: the lines that missed in it, or, where none is known, the function.
function placeLinks(places) {
	const links = (places || []).map(({module, function: name, file, line, misses}) => {
		const row = functionRows.get(functionKey(module, name));
		return [files.has(file) && line ? placeLink(file, line) : row ? linkToFunction(row) : plain(name || 'unknown function'), misses];
	});
	return linkList('missed at', links);
}
