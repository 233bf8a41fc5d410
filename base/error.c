/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stddef.h>

static const struct {
	int error;
	const char *text;
} texts[] = {
	{EPERM, "operation not permitted"},
	{ENOENT, "no such file or directory"},
	{EIO, "input/output error"},
	{EBADF, "bad file descriptor"},
	{EAGAIN, "temporarily unavailable"},
	{ENOMEM, "out of memory"},
	{EACCES, "permission denied"},
	{EBUSY, "busy"},
	{EEXIST, "file exists"},
	{ENXIO, "no such device or address"},
	{ENODEV, "no such device"},
	{ENOTDIR, "not a directory"},
	{EISDIR, "is a directory"},
	{EINVAL, "invalid argument"},
	{ENFILE, "too many open files in the system"},
	{EMFILE, "too many open files"},
	{EFBIG, "file too large"},
	{ENOSPC, "no space left on device"},
	{EROFS, "read-only file system"},
	{EPIPE, "broken pipe"},
	{ENAMETOOLONG, "file name too long"},
	{ENOSYS, "not implemented by this kernel"},
	{ELOOP, "is a symbolic link, or too many of them"},
	{EOPNOTSUPP, "not supported"},
	{EDQUOT, "disk quota exceeded"},
};

const char *cp_error_text(int error)
{
	if (error < 0)
		error = -error;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].error == error)
			return texts[i].text;
	return "error";
}
