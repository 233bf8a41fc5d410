#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Logs of references to sampled sets: log_test prints the TAP.
exec "${B:-build}/sim/log_test"
