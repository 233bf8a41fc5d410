#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The timing model of cores that execute out of order: traces worked out by hand.
exec "${B:-build}/sim/ahead_test"
