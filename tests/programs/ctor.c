/* SPDX-License-Identifier: MIT
 * Uses libctor.so, whose constructor has side effects.
 */
void ctor_library(void);

int main(void)
{
	ctor_library();
	return 0;
}
