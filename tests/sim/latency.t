#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What operations take, and the units that they need.
exec "${B:-build}/sim/latency_test"
