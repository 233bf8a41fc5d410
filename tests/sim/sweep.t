#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Sweeps against separate simulations: sweep_test prints the TAP.
use strict;
use warnings;
use File::Basename 'dirname';
use lib dirname(__FILE__);
use Sim;

exec "$BUILD/sim/sweep_test";
