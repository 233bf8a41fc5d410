// SPDX-License-Identifier: MIT
// What rules say of the counts.
const lastPart = path => path.slice(path.lastIndexOf('/') + 1);
const functionName = one => one.function || 'unknown function in ' + (lastPart(one.module) || 'memory without a file');

// The line of Python that it is for, where one is known.
const scriptText = ({python}) => python ? ', for ' + python.function + ' (' + lastPart(python.file) + ':' + python.line + ')' : '';

// The program's own line, where the finding's was inlined into it.
const callerText = ({caller}) => caller ? lastPart(caller.file) + ':' + caller.line + ', inlined ' : '';

function placeOf(finding) {
	const place = finding.function ? functionName(finding) + (finding.file ? ' (' + callerText(finding) + lastPart(finding.file) + ':' + finding.line + ')' : '')
		: finding.data || functionName(finding);
	return place + scriptText(finding);
}

const placeText = (file, line) => document.createTextNode(file ? plain(lastPart(file)) + ':' + line : '');

// Those of one rule and function, and line of Python, together: they have the same advice.  link(file, line): the
// place, as a way there where there is one; linkData, linkFunction(finding): the same of its data
// and its function, or nothing.
function drawFindings(link, linkData = () => null, linkFunction = () => null) {
	const groups = new Map();
	for (const one of report.findings || []) {
		const key = JSON.stringify([one.rule, one.module, one.function, scriptText(one), one.advice, one.threshold]);
		groups.set(key, (groups.get(key) || []).concat(one));
	}
	$('advice').hidden = !groups.size && !report.not_looked_at && !report.below_limit;
	$('findings').append(...[...groups.values()].map(those => make('li', {},
		make('strong', {}, linkFunction(those[0]) || plain(those[0].function ? functionName(those[0]) : those.length === 1 && those[0].data || those[0].rule)),
		plain(scriptText(those[0])) + ': ', plain(those[0].advice),
		make('ul', {}, ...those.map(one => make('li', {}, link(one.file, one.line),
			one.file && one.data ? ' ' : '', one.data ? linkData(one) || plain(one.data) : '',
			(one.file || one.data ? ': ' : '') + plain(one.evidence)))),
		make('p', {class: 'note'}, 'Rule ' + plain(those[0].rule + ': ' + those[0].threshold)))));
	if (report.below_limit)
		$('findings').append(make('li', {}, plain('Not said: ' + report.below_limit)));
	if (report.not_looked_at)
		$('findings').append(make('li', {}, plain('Not looked at: ' + report.not_looked_at)));
}
