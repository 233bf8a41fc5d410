#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which loads get what the superblock has stored.
exec "${B:-build}/sim/carried_test"
