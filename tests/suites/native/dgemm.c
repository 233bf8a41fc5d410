/* SPDX-License-Identifier: MIT
 *
 * Products of matrices by whatever cblas is linked, and what they are, bit for bit.
 */
#include <cblas.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 203 };

static uint64_t hash(const void *of, size_t size)
{
	uint64_t h = 1;

	for (size_t i = 0; i < size; i++)
		h = (h ^ ((const unsigned char *)of)[i]) * 1099511628211u;
	return h;
}

static double a[N * N], b[N * N], c[N * N];
static float x[N * N], y[N * N], z[N * N];

int main(void)
{
	for (int i = 0; i < N * N; i++) {
		x[i] = (float)(a[i] = (i * 77 % 1001) / 7.0 - 50);
		y[i] = (float)(b[i] = (i * 31 % 997) / 3.0 - 90);
	}
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, N, N, 0.5, a, N, b, N, 0,
		c, N);
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, N, N, N, 0.5f, x, N, y, N, 0,
		z, N);
	printf("dgemm %016llx, sgemm %016llx\n", (unsigned long long)hash(c, sizeof(c)),
		(unsigned long long)hash(z, sizeof(z)));
	cblas_dgemv(CblasRowMajor, CblasNoTrans, N, N, 1.5, a, N, b, 1, 0, c, 1);
	cblas_daxpy(N, 0.25, a, 1, c, 1);
	cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, 20, N,
		1, a, N, b, N);
	printf("dgemv and daxpy %016llx, ddot %a, dtrsm %016llx\n",
		(unsigned long long)hash(c, sizeof(c)), cblas_ddot(N * N, a, 1, a, 1),
		(unsigned long long)hash(b, sizeof(b)));
	return 0;
}
