#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values through memory on cores that execute out of order.
exec "${B:-build}/sim/ahead_memory_test"
