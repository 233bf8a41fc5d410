// SPDX-License-Identifier: MIT
// Values of several runs: what cachepeek diff and run --repeat have in common.
const regionOf = value => plain(value.path.join(' / ') || 'whole run');
// A count and its rate have one name.
const whatOf = ({name, unit}) => words(name) + (unit === '1/kinstr' ? ' /kI' : '');
const rows = report.values.map((value, order) => ({value, order, unit: value.unit, what: whatOf(value),
	name: whatOf(value) + ' of ' + regionOf(value)}));

const sameInAll = runs => runs.n > 0 && runs.min === runs.max;
const spreadOf = runs => runs.mean > 0 ? runs.stddev / runs.mean : 0;

// Of one side or of all runs, one of its numbers as a value of its own.
const numberOf = (runs, number) => ({value: runs[number], status: runs.status,
	reason: runs[number] === null ? runs.reason || 'the region is not there' : null});

function runsCell(runs, number, unit) {
	const td = cell(numberOf(runs, number), unit);
	if (runs.n > 1)
		td.title += sameInAll(runs) ? ', the same in all ' + runs.n + ' runs'
			: '; ' + runs.n + ' runs: ' + full(runs.min, unit) + ' to ' + full(runs.max, unit);
	if (runs.missing)
		td.title += '; missing in ' + count(runs.missing, 'run', 'runs');
	return td;
}

// What it is, and where; button: what a click does; mark: why to look here first.
function valueCell({value, name, what}, button, mark) {
	const unit = value.unit === '1/kinstr' ? '' : unitName(value.unit), tip = [name, meaningOf(value.name)].filter(Boolean).join('\n');
	const th = make('th', {scope: 'row', title: tip});
	const text = button ? make('button', {type: 'button', class: 'link', title: tip}, what) : what;
	if (button)
		text.addEventListener('click', button);
	th.append(text);
	if (mark)
		th.append(make('span', {class: 'mark', title: mark}, ' <=='));
	th.append(make('br'), make('small', {}, regionOf(value) + (unit ? ', ' + unit : '')));
	return th;
}

function startValues(options) {
	const table = grid({table: $('values'), filter: $('filter'), found: $('found'), pages: $('values-pages'), rows,
		what: 'value', many: 'values', size: 50, only: row => $('which').value === 'all' || options.differs(row),
		...options, columns: () => options.list});
	if (!rows.some(options.differs))
		$('which').value = 'all';
	$('which').addEventListener('change', () => { table.page = 0; table.refresh(); });
	return table;
}
