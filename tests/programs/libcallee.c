/* SPDX-License-Identifier: MIT
 * A shared library for call_paths: calls itself through its PLT, and back.
 */
int callee_inner(int n);
int callee_outer(int n, int (*back)(int));

int callee_inner(int n)
{
	static volatile int sum;

	sum += n;
	return sum;
}

int callee_outer(int n, int (*back)(int))
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += callee_inner(i);
	return sum + back(n) + back(sum);
}
