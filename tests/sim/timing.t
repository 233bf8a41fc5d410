#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The timing model: traces worked out by hand.
exec "${B:-build}/sim/timing_test"
