/* SPDX-License-Identifier: MIT
 *
 * Ciphers of libcrypto with several streams at once, or that authenticate, which
 * openssl(1) does not offer: hashes of what they make of 200,003 bytes.
 */
#include <openssl/evp.h>
#include <stdio.h>

static unsigned char plain[200003], sealed[sizeof(plain) + 64];

static void seal(const char *name)
{
	const EVP_CIPHER *cipher = EVP_get_cipherbyname(name);
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	unsigned char key[64], iv[16] = {7}, hash[32], tag[16] = {0};
	int n = 0, last = 0;

	for (int i = 0; i < 64; i++)
		key[i] = (unsigned char)(i * 7);
	if (cipher && EVP_EncryptInit_ex(context, cipher, NULL, key, iv)) {
		/* Pieces that are no multiples of blocks. */
		if (EVP_CIPHER_CTX_mode(context) == EVP_CIPH_XTS_MODE) {
			EVP_EncryptUpdate(context, sealed, &n, plain, sizeof(plain));
		} else {
			for (size_t at = 0, size; at < sizeof(plain);
				at += size, n += last) {
				size = sizeof(plain) - at < 7777 ? sizeof(plain) - at
								 : 7777;
				EVP_EncryptUpdate(context, sealed + n, &last, plain + at,
					(int)size);
			}
		}
		EVP_EncryptFinal_ex(context, sealed + n, &last);
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
		EVP_Digest(sealed, (size_t)(n + last), hash, NULL, EVP_sha256(), NULL);
		printf("%s %d %02x%02x%02x%02x%02x %02x%02x%02x\n", name, n + last,
			hash[0], hash[1], hash[2], hash[3], hash[31], tag[0], tag[1],
			tag[15]);
	}
	EVP_CIPHER_CTX_free(context);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (unsigned char)(i * 77 >> 3);
	seal("aes-128-gcm");
	seal("aes-256-gcm");
	seal("aes-128-ccm");
	seal("aes-256-xts");
	seal("aes-128-ocb");
	seal("chacha20-poly1305");
	seal("aes-128-cbc-hmac-sha1");
	seal("aes-128-cbc-hmac-sha256");
	return 0;
}
