// SPDX-License-Identifier: MIT
// The source, with misses beside its lines: what was read when the report was made.
const LINES = 1000;
const texts = new Map(jsonOf('sources').files.map(file => [file.file, file]));
const files = new Map(); // name: {name, counts, lines: Map of number: {counts, functions, instructions}}
let sourcePage = 0, opened = new Set(), allMisses = 0;

function addCounts(sum, counts) {
	for (const [name, value] of Object.entries(counts))
		sum[name] = value === null || sum[name] === null ? null : (sum[name] || 0) + value;
}

function addStatement(function_, statement) {
	if (!statement.file || !statement.line)
		return;
	if (!files.has(statement.file))
		files.set(statement.file, {name: statement.file, counts: {}, lines: new Map()});
	const file = files.get(statement.file);
	if (!file.lines.has(statement.line))
		file.lines.set(statement.line, {counts: {}, functions: new Set(), instructions: []});
	const line = file.lines.get(statement.line);
	addCounts(file.counts, statement.counts);
	addCounts(line.counts, statement.counts);
	line.functions.add(function_.function);
	line.instructions.push(...statement.instructions.map(one => ({...one, module: function_.module})));
}

// Of a sample: estimates of a file and of its lines, which are not the sums of their parts'.
function takeEstimates(source) {
	const of = ({counts, errors, reason}) => ({counts, errors, reason}), file = files.get(source.file);
	if (!file)
		return;
	Object.assign(file, of(source));
	for (const line of source.lines)
		if (file.lines.has(line.line))
			Object.assign(file.lines.get(line.line), of(line));
}

// Text and misses by number; null: lines that are left out.
function linesOf(file) {
	const texts_ = new Map((texts.get(file.name) || {lines: []}).lines);
	const numbers = [...new Set([...texts_.keys(), ...file.lines.keys()])].sort((a, b) => a - b);
	const all = [];

	for (const number of numbers) {
		if (all.length && all[all.length - 1].number !== number - 1)
			all.push(null);
		all.push({number, text: texts_.get(number), misses: file.lines.get(number)});
	}
	return all;
}

function sourceNote(file, lines) {
	const text = texts.get(file.name), where = plain(file.name) + ': ' + count(file.lines.size, 'line', 'lines') + ' with misses.';
	const left = view.least_percent ? '  Instructions with less than ' + view.least_percent
		+ ' % of the misses are left out; the JSON report has them.' : '';
	if (!text || text.reason)
		return where + '  Only their numbers: ' + (text ? text.reason : 'the file was not looked for') + '.' + left;
	return where + '  The file as it was when this report was made'
		+ (text.changed ? '; it is newer than the program: lines may have moved' : '') + '.'
		+ (lines.includes(null) ? '  Lines far from misses are left out.' : '') + left;
}

// Its function, and the data that it missed in: ways to them.
function lineLinks(file, line, those) {
	const functions = report.functions.filter(one => one.statements.some(each => each.file === file.name && each.line === line.number))
		.map(one => functionRows.get(functionKey(one.module, one.function)));
	return make('tr', {class: 'ways'}, make('td'), make('td', {class: 'text', colspan: those.length + 1},
		'in ', ...functions.flatMap((row, i) => [i ? ', ' : '', linkToFunction(row)]),
		...dataLinks(dataOfLines.get(file.name + ':' + line.number))));
}

function instructionRows(line, those) {
	return line.misses.instructions.map(one => make('tr', {class: 'instruction'},
		make('th', {scope: 'row', title: plain(one.module)}, '0x' + one.address.toString(16)),
		...those.map(column => cell(column.of(one), column.unit)), make('td', {class: 'text'}, plain(one.text))));
}

// What stands for the text of a line that could not be read.
function lineText(line) {
	if (line.text !== undefined)
		return make('td', {class: 'text'}, plain(line.text.replace(/\t/g, '    ')));
	return make('td', {class: 'text unavailable'}, 'in ' + plain([...line.misses.functions].join(', ')));
}

function lineRow(file, line, those, total) {
	if (!line)
		return [make('tr', {class: 'gap'}, make('td', {colspan: those.length + 2}, '⋯'))];
	if (!line.misses)
		return [make('tr', {}, make('th', {scope: 'row'}, String(line.number)), ...those.map(() => make('td')), lineText(line))];
	const open = opened.has(line.number);
	const button = make('button', {type: 'button', 'aria-expanded': String(open), title: 'its instructions'}, String(line.number));
	const share = total ? (those[0].of(line.misses).value || 0) / total : 0;
	const row = make('tr', {'data-line': line.number}, make('th', {scope: 'row'}, button),
		...those.map(column => cell(column.of(line.misses), column.unit)), lineText(line));

	row.style.backgroundColor = 'rgba(var(--heat),' + (0.08 + 0.47 * share).toFixed(3) + ')';
	button.addEventListener('click', () => {
		if (!opened.delete(line.number))
			opened.add(line.number);
		drawSource();
		$('source').querySelector('tr[data-line="' + line.number + '"] button').focus();
	});
	return open ? [row, lineLinks(file, line, those), ...instructionRows(line, those)] : [row];
}

function drawSource() {
	const file = files.get($('source-file').value);
	if (!file)
		return;
	const lines = linesOf(file), those = placeColumns();

	$('source-note').textContent = sourceNote(file, lines);
	$('source').replaceChildren(
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'line'),
			...those.map(column => make('th', {scope: 'col'}, column.title)), make('th', {scope: 'col', class: 'text'}, 'source'))),
		make('tbody', {}, ...lines.slice(sourcePage * LINES, (sourcePage + 1) * LINES)
			.flatMap(line => lineRow(file, line, those, allMisses))));
	pages($('source-pages'), sourcePage, LINES, lines.length, to => { sourcePage = to; drawSource(); });
}

// Shows that line, or the start of the file.
function showSource(name, number) {
	const lines = linesOf(files.get(name));
	$('source-file').value = name;
	opened = new Set();
	sourcePage = Math.max(0, Math.floor(lines.findIndex(line => line && line.number === number) / LINES));
	drawSource();
	const button = $('source').querySelector('tr[data-line="' + number + '"] button');
	if (button) {
		button.scrollIntoView({block: 'center'});
		button.focus({preventScroll: true});
	}
}

function startSource(missesOf) {
	for (const function_ of report.functions)
		for (const statement of function_.statements)
			addStatement(function_, statement);
	for (const source of estimates ? report.sources : [])
		takeEstimates(source);
	const ordered = [...files.values()].sort((a, b) => (missesOf(b) || 0) - (missesOf(a) || 0));
	const [first] = ordered; // the one with most misses, whether it can be read or not

	allMisses = report.functions.reduce((sum, one) => sum + (missesOf(one) || 0), 0);
	$('source-section').hidden = !ordered.length;
	$('source-file').append(...ordered.map(file => make('option', {value: file.name},
		plain(file.name) + ' (' + (missesOf(file) === null ? '—' : full(missesOf(file))) + ')')));
	if (first)
		$('source-file').value = first.name;
	$('source-file').addEventListener('change', () => { opened = new Set(); sourcePage = 0; drawSource(); });
	drawSource();
}
