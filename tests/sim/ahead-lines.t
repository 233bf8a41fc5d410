#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Lines of cores that execute out of order: fetched ahead, and lost to others.
exec "${B:-build}/sim/ahead_lines_test"
