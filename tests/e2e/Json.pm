# SPDX-License-Identifier: MIT
package Json;

# decode_json and encode_json, compiled ones: half of the time of many tests was that of
# JSON::PP.  A key that an object has twice is an error.
use strict;
use warnings;
use Cpanel::JSON::XS ();
use Exporter 'import';

our @EXPORT = qw(decode_json encode_json);

my $coder = Cpanel::JSON::XS->new->utf8->allow_nonref;

sub true { return Cpanel::JSON::XS::true() }

sub false { return Cpanel::JSON::XS::false() }

sub decode_json { return $coder->decode($_[0]) }

sub encode_json { return $coder->encode($_[0]) }

1;
