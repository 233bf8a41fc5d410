/* SPDX-License-Identifier: MIT
 * Nothing, to see what starting and ending costs.
 */
int main(void)
{
	return 0;
}
