#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Branches of cores that execute out of order: which of them are foreseen.
exec "${B:-build}/sim/ahead_branches_test"
