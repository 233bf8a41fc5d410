#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The time of values by where they come from and go to.
exec "${B:-build}/sim/flow_values_test"
