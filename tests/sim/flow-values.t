#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What values take by where they come from and go to.
exec "${B:-build}/sim/flow_values_test"
