/* SPDX-License-Identifier: MIT
 * As large as libfirst.so.
 */
void only_second(void);

void only_second(void)
{
	static volatile int sum;

	for (int i = 0; i < 100; i++)
		sum += i;
	(void)sum;
}
