#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random traces of cores that execute out of order, against a model that goes from
# cycle to cycle.
exec "${B:-build}/sim/ahead_random_test"
