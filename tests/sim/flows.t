#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How values flow through superblocks: by hand, and random ones beside a reference.
exec "${B:-build}/sim/flows_test"
