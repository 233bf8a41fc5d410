// SPDX-License-Identifier: MIT
// The formulas of metrics (output/metrics/formula.h), for values that are there or null.

// The text as a function of lookup(), which gives a name's value.
function formulaOf(text) {
	const tokens = text.match(/'[^']*'|[A-Za-z_][\w:]*|[\d.]+(?:[eE][-+]?\d+)?|[-+*/(),]/g) || [];
	const arithmetic = {'+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b,
		'/': (a, b) => b === 0 ? null : a / b};
	const functions = {min: Math.min, max: Math.max, abs: Math.abs, estimate: a => a,
		clamp: (a, low, high) => Math.min(Math.max(a, low), high)};
	const apply = (f, ...parts) => lookup => {
		const values = parts.map(part => part(lookup));
		return values.includes(null) ? null : f(...values);
	};

	function inParentheses() {
		const parts = [];
		do {
			tokens.shift(); // the parenthesis or a comma
			parts.push(sum());
		} while (tokens[0] === ',');
		tokens.shift();
		return parts;
	}

	function factor() {
		if (tokens[0] === '(')
			return inParentheses()[0];
		const token = tokens.shift();
		if (token === '-')
			return apply(a => -a, factor());
		if (tokens[0] === '(')
			return apply(functions[token], ...inParentheses());
		return /^[\d.]/.test(token) ? () => Number(token) : lookup => lookup(token.replaceAll("'", ''));
	}

	function chain(operators, part) {
		let left = part();
		while (operators.includes(tokens[0]))
			left = apply(arithmetic[tokens.shift()], left, part());
		return left;
	}

	const product = () => chain('*/', factor);
	const sum = () => chain('+-', product);
	return sum();
}
