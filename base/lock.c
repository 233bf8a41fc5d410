/* SPDX-License-Identifier: MIT */
#include "base/lock.h"

int cp_lock_last_resort;
