// SPDX-License-Identifier: MIT
// A table that sorts, filters and turns its pages.

function compareBy(column, down) {
	const sign = down ? -1 : 1;
	return (a, b) => {
		if (!column)
			return sign * a.name.localeCompare(b.name) || a.order - b.order;
		const x = column.of(a).value, y = column.of(b).value;
		if (x === null || y === null)
			return (x === null) - (y === null) || a.order - b.order;
		return sign * (x - y) || a.order - b.order;
	};
}

// The first cell of a row: its name, as wide as there is room beside the mark; mark: why to
// look here first, or false.
function markedCell(title, name, indent, mark) {
	const th = make('th', {scope: 'row', title, style: indent && 'padding-left:' + indent + 'rem'});
	if (mark)
		th.append(make('span', {class: 'marked'}, make('span', {class: 'named'}, name), make('span', {class: 'mark', title: mark}, ' <==')));
	else
		th.append(name);
	return th;
}

// table, filter, found, pages: elements.  rows: {name, order, ...}.  columns(): those to
// show, each {id, title, unit, of(row)}, text where it has words; all: those to sort by.  what: of the first
// column; many: its plural.  size: of a page.  first(row, natural): the first cell, in the natural order or
// not.  rowClass(row): of the row, or false.  fill(row, column): a cell, where it is not column.of(row).  changed(): called
// when other rows are shown, or others first.  only(row): whether it is one of those to show, now.
// rare(row): whether it is shown only when it is looked for, or asked for; rareness: what those are.
function grid(options) {
	const {table, filter, rows, what} = options, size = options.size || 200;
	const fillCell = options.fill || ((row, column) => cell(column.of(row), column.unit));
	const it = {shown: rows, page: 0};
	let rare = options.rare && rows.some(row => !options.rare(row)) ? options.rare : () => false;
	let sorted = {id: null, down: true};

	function select() {
		const wanted = filter.value.toLowerCase();
		it.shown = rows.filter(row => row.name.toLowerCase().includes(wanted) && (!options.only || options.only(row)) && (wanted || !rare(row)));
		if (sorted.id !== null)
			it.shown.sort(compareBy((options.all || options.columns()).find(column => column.id === sorted.id), sorted.down));
		options.found.textContent = count(it.shown.length, what, options.many)
			+ (it.shown.length < rows.length ? ' of ' + rows.length.toLocaleString('en-US') : '');
		if (!wanted && rows.some(rare))
			options.found.append(', the others ' + options.rareness + ' each ', allButton());
	}

	function allButton() {
		const button = make('button', {type: 'button'}, 'all');
		button.addEventListener('click', () => { rare = () => false; it.page = 0; it.refresh(); });
		return button;
	}

	function sortBy(id) {
		sorted = {id, down: sorted.id === id ? !sorted.down : id !== what};
		it.page = 0;
		it.refresh();
		table.querySelector('th[data-id="' + CSS.escape(id) + '"] button').focus();
	}

	function heading(id, title, unit, tip, text) {
		const button = make('button', {type: 'button', title: tip || null}, title);
		button.addEventListener('click', () => sortBy(id));
		const th = make('th', {scope: 'col', 'data-id': id, class: text && 'text',
			'aria-sort': sorted.id !== id ? 'none' : sorted.down ? 'descending' : 'ascending'}, button);
		if (sorted.id === id)
			button.append(sorted.down ? ' ▼' : ' ▲');
		if (unit)
			th.append(make('br'), make('small', {}, unitName(unit)));
		return th;
	}

	it.draw = () => {
		const those = options.columns(), natural = sorted.id === null && !filter.value;
		table.replaceChildren(
			make('thead', {}, make('tr', {}, heading(what, what),
				...those.map(column => heading(column.id, column.title, column.unit, column.tip, column.text)))),
			make('tbody', {}, ...it.shown.slice(it.page * size, (it.page + 1) * size).map(row =>
				make('tr', {class: options.rowClass && options.rowClass(row)}, options.first(row, natural), ...those.map(column => fillCell(row, column))))));
		pages(options.pages, it.page, size, it.shown.length, to => { it.page = to; it.draw(); });
	};
	// Brings the row into view, whatever was filtered, and there the focus.
	it.show = row => {
		if (!it.shown.includes(row)) {
			filter.value = '';
			rare = rare(row) ? () => false : rare;
			select();
		}
		it.page = Math.max(0, Math.floor(it.shown.indexOf(row) / size));
		it.refresh();
		const head = table.tBodies[0].rows[it.shown.indexOf(row) - it.page * size].cells[0];
		const target = head.querySelector('button') || head;
		if (target === head)
			head.tabIndex = -1;
		head.scrollIntoView({block: 'center'});
		target.focus({preventScroll: true});
	};
	it.refresh = () => {
		select();
		it.draw();
		if (options.changed)
			options.changed();
	};
	filter.addEventListener('input', () => { it.page = 0; it.refresh(); });
	return it;
}

// Of columns that are metrics, counts or neither: those that #columns picks.
function picked(columns) {
	const kind = $('columns').value;
	if (kind === 'answer')
		return columns.filter(column => column.answers).sort((a, b) => a.answers - b.answers);
	return columns.filter(column => !column.kind || kind === 'all' || column.kind === kind);
}

function startColumns(columns) {
	for (const [value, text] of [...(columns.some(column => column.answers) ? [['answer', 'the answer']] : []),
		['metric', 'metrics'], ['count', 'counts'], ['all', 'all']])
		$('columns').append(make('option', {value}, text));
	if (!columns.some(column => column.kind === 'metric'))
		$('columns').value = 'count';
}

// The column that says most, to begin with.
function telling(columns) {
	const known = columns.filter(column => column.kind);
	return (known.find(column => column.id.endsWith('mpki')) || known[0] || {id: ''}).id;
}
