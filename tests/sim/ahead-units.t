#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Cores that execute out of order, of whose instructions some have their time modelled.
exec "${B:-build}/sim/ahead_units_test"
