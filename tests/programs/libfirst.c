/* SPDX-License-Identifier: MIT
 * Closed before libsecond.so is opened in its place (call_paths).
 */
void only_first(void);

void only_first(void)
{
	static volatile int sum;

	for (int i = 0; i < 100; i++)
		sum += i;
	(void)sum;
}
