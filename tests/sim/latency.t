#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The time of operations, and the units that they need.
exec "${B:-build}/sim/latency_test"
