#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a core that executes out of order has fetched behind branches foreseen wrongly.
exec "${B:-build}/sim/ahead_forks_test"
