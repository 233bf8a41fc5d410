// SPDX-License-Identifier: MIT
// What changed between the call paths of two runs: cachepeek diff --call-paths.
const ends = [report.after, report.before];

// Of each function of the tree, by itself: before and after.
const functions = new Map();

function addFunctions() {
	for (const node of flameNodes) {
		const row = functions.get(node.name) || {name: node.name, order: functions.size, own: node.own.map(() => 0)};
		node.own.forEach((n, i) => { row.own[i] += n; });
		functions.set(node.name, row);
	}
}

const columnsOf = () => {
	const of = flameOf() % flame.pairs;
	const number = value => ({value, status: 'simulated', reason: null});
	return [
		{id: 'change', title: 'change', tip: 'after less before', of: row => number(row.own[of] - row.own[of + flame.pairs])},
		{id: 'before', title: flame.quantities[of + flame.pairs], of: row => number(row.own[of + flame.pairs])},
		{id: 'after', title: flame.quantities[of], of: row => number(row.own[of])},
	];
};

function head() {
	const commands = [...new Set(ends.map(end => plain(end.command)))];
	document.title = 'cachepeek: what changed in ' + commands[0];
	$('title').textContent = commands.reverse().join(' → ');
	showProvenance(true, 'Simulated: counts of a simulated PMU' + (ends.every(end => end.exact) ? ', exact for these machines.' : '; not all is exact, as the reports of the runs say.'));
	for (const [name, end] of [['before', report.before], ['after', report.after]]) {
		fact(name, plain(end.label) + ': ' + plain(end.command));
		fact('machine ' + name, plain(end.machine));
	}
	showWarnings([...ends.filter(end => end.folded).map(end => end.label + ' had no room for more paths: '
		+ count(end.folded, 'call is', 'calls are') + ' counted as their callers\' own.'),
	...(ends[0].machine === ends[1].machine ? [] : ['The machines are not the same: what differs may be that.'])]);
}

function start() {
	head();
	startFlame();
	addFunctions();
	const table = grid({table: $('paths'), filter: $('paths-filter'), found: $('paths-found'), pages: $('paths-pages'),
		rows: [...functions.values()].sort((a, b) => Math.abs(b.own[flame.misses] - b.own[flame.misses + flame.pairs])
			- Math.abs(a.own[flame.misses] - a.own[flame.misses + flame.pairs]) || a.order - b.order),
		what: 'function', many: 'functions', columns: columnsOf,
		first: row => make('th', {scope: 'row', title: row.name}, row.name)});
	$('flame-of').addEventListener('change', table.refresh);
	startThemes(() => {});
	table.refresh();
}

start();
