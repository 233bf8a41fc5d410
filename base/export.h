/* SPDX-License-Identifier: MIT
 *
 * Marks what an object of ours gives to the program: functions that others call, and have
 * their own headers for.
 */
#ifndef CACHEPEEK_BASE_EXPORT_H
#define CACHEPEEK_BASE_EXPORT_H

#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
