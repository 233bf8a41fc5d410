#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The timing model: traces worked out by hand, and random ones.
exec "${B:-build}/sim/timing_test"
