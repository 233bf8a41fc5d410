#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Ports of cores that execute out of order: of loads that miss, and of branches.
exec "${B:-build}/sim/ahead_ports_test"
