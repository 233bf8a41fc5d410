// SPDX-License-Identifier: MIT
// Misses by place: cachepeek dcache, dtlb, icache.
const view = jsonOf('view');
const formulas = new Map(view.metrics.map(metric => [metric.name, formulaOf(metric.formula)]));
const units = new Map(view.metrics.map(metric => [metric.name, metric.unit]));

// Of a sample (CACHEPEEK_SAMPLE): with half of the 95 % interval of each.
const estimates = Boolean(report.sample);

// Of places the page has no 0.
for (const one of [...report.functions.flatMap(each => [each, ...each.statements.flatMap(line => [line, ...line.instructions])]),
	...report.threads, ...report.modules, ...report.data, ...(report.python_functions || []), ...(report.python_lines || [])])
	for (const name of view.placed)
		one.counts[name] ??= name in one.counts ? null : 0;

const KINDS = {unknown: 'not known', variable: 'variable', module: 'of a file', heap: 'heap',
	'heap-other': 'heap', stack: 'stack', mapping: 'mapping'};

// The value of a count or a metric, of what has these counts.
function numberOf(counts, name) {
	if (counts[name] !== undefined)
		return counts[name];
	return formulas.has(name) ? formulas.get(name)(input => numberOf(counts, input)) : null;
}

// Of a count as the report says; of a metric that of its worst input.
function statusOf(name) {
	if (report.statuses[name] !== undefined)
		return report.statuses[name];
	const inputs = [];
	if (formulas.has(name))
		formulas.get(name)(input => inputs.push({status: statusOf(input)}));
	return worst(inputs);
}

function valueOf(counts, name) {
	const value = numberOf(counts, name);
	if (value !== null)
		return {value, status: statusOf(name), reason: null};
	return {value, status: 'unavailable', reason: view.reasons[name]
		|| (formulas.has(name) ? 'one of its inputs is not known here, or there is nothing to divide by'
			: 'known of the whole run only')};
}

// Of the whole run; of a sample with half of its interval.
function totalOf(name) {
	if (!estimates)
		return valueOf(report.counts, name);
	if (view.reasons[name])
		return {value: null, status: 'unavailable', reason: view.reasons[name]};
	return {...valueOf(report.counts, name), error: report.errors[name]};
}

// Of a sample: what is known of a place, and how well.
function sampledOf(place, value, status, error) {
	if (value === null || value === undefined)
		return {value: null, status: 'unavailable', reason: place.reason || 'sampled: it is not known well enough here'};
	return {value, status, error, reason: null};
}

// Of a place: a function, a line, an instruction, some data; what has no interval has no value.
function valueAt(place, name) {
	if (!estimates)
		return valueOf(place.counts, name);
	if (name in place.errors)
		return sampledOf(place, place.counts[name], statusOf(name), place.errors[name]);
	return {value: null, status: 'unavailable', reason: 'sampled: known of the whole run only'};
}

// Half of its interval: of a ratio in points, of anything else in parts of it.
function spread(v, unit) {
	if (v.error == null || !v.value)
		return '';
	return ' ±' + (unit === 'ratio' ? full(v.error, unit) : (100 * v.error / v.value).toFixed(1) + ' %');
}

function missesOf(list) {
	return list.reduce((sum, one) => sum + (numberOf(one.counts, 'misses') || 0), 0);
}

// label: what a bar has room for.
function rowsOf(list, nameOf, labelOf = nameOf, total = missesOf(list)) {
	return list.map((one, order) => ({one, order, counts: one.counts, name: plain(nameOf(one)),
		label: plain(labelOf(one)), total}));
}

const shareColumn = {id: 'share', title: 'of all', unit: 'ratio', tip: 'of the misses of the whole run',
	of: row => estimates ? sampledOf(row.one, row.one.share, 'estimated', row.one.share_error)
		: {value: row.total ? numberOf(row.counts, 'misses') / row.total : 0, status: statusOf('misses'), reason: null}};
const columns = view.columns.map(({name, heading}) => ({id: name, title: heading, unit: units.get(name) || '', tip: meaningOf(name),
	of: row => valueAt(row.one || row, name)}));
// Those that are known of places; other cores' lines only where there are any, as in the text.
const counted = columns.filter(column => report.functions.some(one => column.id === 'hitm' ? column.of(one).value : column.of(one).value !== null));
const placeColumns = () => counted;

const all = {
	functions: rowsOf(report.functions, one => functionName(one) + ' (' + (lastPart(one.module) || 'no file') + ')', functionName),
	data: rowsOf(report.data, one => one.name),
	threads: rowsOf(report.threads, one => one.pid + '/' + (one.tid || 'others') + ' ' + one.name),
	modules: rowsOf(report.modules, one => one.path || one.module, one => one.module),
	'python-functions': rowsOf(report.python_functions || [], one => one.function + ' (' + lastPart(one.module) + ')', one => one.function,
		missesOf(report.modules)),
	'python-lines': rowsOf(report.python_lines || [], one => lastPart(one.file) + ':' + one.line, undefined, missesOf(report.modules)),
};

function functionCell(row) {
	const first = row.one.statements.find(statement => statement.file && statement.line);
	const text = make('th', {scope: 'row', title: row.name});
	text.append(first ? linkTo(row.name, 'show ' + plain(first.file) + ':' + first.line, () => showSource(first.file, first.line)) : row.name,
		...dataLinks(dataOfFunctions.get(functionKey(row.one.module, row.one.function))));
	return text;
}

// How much of its lines was used, and which bytes: the stronger, the more often.
const MOST_FIELDS = 12;

// Of a structure: in how many of the lines that a field was fetched with it was used.
function fieldUse({type, fields}) {
	const share = field => field.fetched ? Math.round(100 * field.used / field.fetched) + ' %' : '—';
	return make('small', {class: 'links fields', title: plain(fields.map(field => field.name + ' (bytes ' + field.offset + ' to '
		+ (field.offset + field.size - 1) + '): ' + field.used + ' of ' + field.fetched).join('\n'))}, 'fields of ' + plain(type ? 'struct ' + type : 'the structure') + ' used: '
		+ plain(fields.slice(0, MOST_FIELDS).map(field => field.name + ' ' + share(field)).join(', ')) + (fields.length > MOST_FIELDS ? ', …' : ''));
}

function lineUse({fetched, line, used, used_bytes}) {
	const each = line / used.length, strip = make('span', {class: 'bytes use', role: 'img',
		'aria-label': 'bytes that were used, of ' + count(fetched, 'line', 'lines')});
	used.forEach((n, i) => strip.append(make('i', {class: 'read', title: 'byte ' + i * each + ': ' + full(n / fetched, 'ratio') + ' of '
		+ count(fetched, 'line', 'lines'), style: 'left:' + (100 * i / used.length) + '%;width:' + (100 / used.length) + '%;opacity:' + (n / fetched).toFixed(3)})));
	return [make('small', {}, full(used_bytes) + ' of ' + line + ' bytes of a fetched line used '), strip];
}

function dataCell(row) {
	const {data, size, blocks, file, line} = row.one;
	const where = file ? [', ', placeLink(file, line)] : [];
	const text = make('th', {scope: 'row', title: row.name}, row.name);
	text.append(make('br'), make('small', {}, KINDS[data] + (blocks > 1 ? ', ' + full(blocks) + ' blocks' : '')
		+ (size ? ', ' + full(size) + ' bytes' : ''), ...where),
		...placeLinks(row.one.places));
	if (row.one.line_use)
		text.append(...(row.one.places ? [] : [make('br')]), ...lineUse(row.one.line_use), ...(row.one.line_use.fields ? [fieldUse(row.one.line_use)] : []));
	return text;
}

const nameCell = row => make('th', {scope: 'row', title: row.name}, row.name);

const RARE = 0.001;
const isRare = row => { const {value} = shareColumn.of(row); return value !== null && value < RARE; };

function gridOf(id, what, many, first) {
	return grid({table: $(id), filter: $(id + '-filter'), found: $(id + '-found'), pages: $(id + '-pages'), rare: isRare, rareness: 'have less than 0.1 %',
		rows: all[id], size: 25, what, many, first, columns: () => [shareColumn, ...counted]});
}

const grids = [gridOf('functions', 'function', 'functions', functionCell), gridOf('data', 'object', 'objects', dataCell),
	gridOf('threads', 'thread', 'threads', nameCell), gridOf('modules', 'module', 'modules', nameCell),
	gridOf('python-functions', 'function', 'functions', nameCell), gridOf('python-lines', 'line', 'lines', nameCell)];

for (const id of ['python-functions', 'python-lines'])
	$(id + '-section').hidden = !all[id].length;

// ---- the answer ----

// As the text report begins: all of it, and where most of that is.
function answerLines() {
	const totals = columns.map(column => [column, totalOf(column.id)])
		.filter(([, v]) => v.value > 0 && (estimates || v.status !== 'estimated'))
		.map(([column, v]) => column.title + ' ' + (column.unit === 'ratio' ? full(v.value, 'ratio') : short(v.value)) + spread(v, column.unit));
	const [first] = report.findings || [], most = all['python-lines'][0] || all.functions[0];
	const lines = [{title: 'in all', text: totals.join(', ')}];

	if (first)
		lines.push({title: 'look first', text: first.rule + ': ' + placeOf(first)});
	else
		lines.push({title: 'findings', text: report.findings && !estimates ? 'no rule finds anything to mend' : 'not looked for'});
	if (most && most.total && shareColumn.of(most).value !== null)
		lines.push({title: 'most', text: most.name + ': ' + full(shareColumn.of(most).value, 'ratio')
			+ spread(shareColumn.of(most), 'ratio') + ' of the misses'});
	return lines;
}

function head() {
	document.title = 'cachepeek ' + report.measurement + ': ' + plain(report.command);
	$('title').textContent = plain(report.command);
	const simulated = report.source === 'simulated';
	showAnswer([{group: null, lines: answerLines()}]);
	showMeanings(columns.map(column => column.id));
	showProvenance(simulated, (simulated ? 'Simulated: ' + report.title.toLowerCase()
		+ ' of a simulated PMU, not of this processor; ' + (estimates
			? 'estimates from a sample (CACHEPEEK_SAMPLE), with 95 % intervals. '
			: 'every one, by the instruction that had it. ')
		: report.title + ', on this machine: each place has as many as its samples stand for. ')
		+ (report.exact ? 'Those of all places add up to the counts.' : 'Those of all places do not add up to the counts: see the warnings.'));
	if (simulated) {
		fact('machine', plain(report.machine));
		fact('latencies', latencyFact(report));
	}
	fact('ran', count(report.processes, 'process', 'processes') + ', ' + count(report.threads.length, 'thread', 'threads'));
	fact('written by', 'cachepeek ' + report.cachepeek);
	$('description').textContent = view.description;
	showWarnings(report.warnings);
}

function drawTotals() {
	if (estimates)
		$('total-title').textContent = 'Estimates for the whole run';
	const names = [...new Set([...Object.keys(report.counts), ...view.metrics.map(metric => metric.name)])];
	$('totals').append(...names.map(name => {
		const v = totalOf(name), unit = units.get(name) || '';
		const dd = make('dd', {class: v.status, title: explain(v, unit)}, v.value === null ? '—'
			: full(v.value, unit) + (unit && unit !== 'ratio' ? ' ' + unit : '') + spread(v, unit));
		if (v.value !== null)
			dd.dataset.value = v.value;
		return make('div', {}, make('dt', {}, name), dd);
	}));
	showSure(names.map(name => [name, totalOf(name)]), 1, '', '');
}

// A place in the source: a way there, where there is one.
function placeLink(file, line) {
	const text = plain(lastPart(file)) + ':' + line;
	if (!files.has(file))
		return document.createTextNode(file ? text : '');
	const button = make('button', {type: 'button', class: 'link', title: 'show ' + plain(file) + ':' + line}, text);
	button.addEventListener('click', () => showSource(file, line));
	return button;
}

function start() {
	head();
	drawTotals();
	startLinks(all.functions, all.data);
	startBuckets(all);
	startThemes(() => drawBuckets(all));
	drawBuckets(all);
	startFlame();
	startSource(place => valueAt(place, 'misses').value);
	drawFindings(placeLink, one => dataRows.get(one.data) && linkToData(dataRows.get(one.data)),
		one => functionRows.get(functionKey(one.module, one.function)) && linkToFunction(functionRows.get(functionKey(one.module, one.function))));
	for (const each of grids)
		each.refresh();
}

start();
