#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The timing model: random traces, from cycle to cycle.
exec "${B:-build}/sim/timing_random_test"
