#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Room in the timing model of cores that execute out of order: random requests, and too
# many.
exec "${B:-build}/sim/room_test"
