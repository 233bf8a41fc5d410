# SPDX-License-Identifier: MIT
# The library's objects in memory, as its debugging information tells of them.
package Objects;
use strict;
use warnings;

# All that readelf says: offset of the entry => its tag, attributes, and children.
sub read_entries {
	my ($file) = @_;
	my (%entry, @open, $now);
	open(my $dump, '-|', 'readelf', '--debug-dump=info', $file) or die "readelf: $!";
	while (<$dump>) {
		if (/^ *<([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: (\d+)(?: \((DW_TAG_\w+)\))?/) {
			$now = undef;
			next unless $3 && $4;
			$#open = hex($1) - 1;
			$now = {tag => substr($4, 7), children => []};
			push(@{$open[-1]{children}}, $now) if @open;
			push(@open, $now);
			$entry{hex($2)} = $now;
		} elsif ($now && /^ *<[0-9a-f]+> +DW_AT_(\w+) *: (.*)/) {
			my ($name, $value) = ($1, $2);
			$value =~ s/^\((?:alt )?(?:indirect|indexed)[^)]*\): //;
			$value =~ s/\s+$//;
			$now->{$name} = $value;
		}
	}
	close($dump);
	return \%entry;
}

sub new {
	my ($class, $file) = @_;
	return bless({entries => read_entries($file), memory => {}, reached => {}}, $class);
}

sub number { my ($text) = @_; return defined $text ? $text =~ /^0x/ ? hex($text) : int($text) : 0 }
sub type_of { my ($self, $entry) = @_; return ($entry->{type} // '') =~ /<0x([0-9a-f]+)>/ ? hex($1) : undef }

sub size {
	my ($self, $at) = @_;
	my $type = defined $at ? $self->{entries}{$at} : undef;
	return 0 unless $type;
	return number($type->{byte_size}) if defined $type->{byte_size};
	my $of = $self->size($self->type_of($type));
	return $type->{tag} eq 'array_type' ? $of * $self->count($type) : $of;
}

sub count {
	my ($self, $array) = @_;
	my $count = 1;
	for my $range (grep { $_->{tag} eq 'subrange_type' } @{$array->{children}}) {
		$count *= defined $range->{upper_bound} ? number($range->{upper_bound}) + 1 : number($range->{count});
	}
	return $count;
}

# Where in an object of that type there are structs of that name: [offset, path].
sub inside {
	my ($self, $at, $name) = @_;
	my $type = defined $at ? $self->{entries}{$at} : undef;
	return [] unless $type;
	return $self->{memory}{$name}{$at} if $self->{memory}{$name}{$at};
	my @found;
	if ($type->{tag} eq 'structure_type' && ($type->{name} // '') eq $name) {
		@found = ([0, '']);
	} elsif ($type->{tag} =~ /^(?:structure|union|class)_type$/) {
		for my $member (grep { $_->{tag} eq 'member' } @{$type->{children}}) {
			my $from = number($member->{data_member_location});
			push(@found, map { [$from + $_->[0], '.' . ($member->{name} // '') . $_->[1]] }
				@{$self->inside($self->type_of($member), $name)});
		}
	} elsif ($type->{tag} eq 'array_type') {
		my $of = $self->type_of($type);
		my $each = $self->inside($of, $name);
		for my $i (0 .. (@$each ? $self->count($type) - 1 : -1)) {
			push(@found, map { [$i * $self->size($of) + $_->[0], "[$i]$_->[1]"] } @$each);
		}
	} elsif ($type->{tag} =~ /^(?:typedef|const_type|volatile_type|atomic_type|restrict_type)$/) {
		@found = @{$self->inside($self->type_of($type), $name)};
	}
	return $self->{memory}{$name}{$at} = \@found;
}

# Every one in an object with a place of its own: address => name.
sub all {
	my ($self, $name) = @_;
	my %all;
	for my $variable (grep { $_->{tag} eq 'variable' } values %{$self->{entries}}) {
		next unless ($variable->{location} // q{}) =~ /DW_OP_addr: ([0-9a-f]+)\)/;
		my $address = hex($1);
		my $declared = $variable;
		if (($variable->{specification} // '') =~ /<0x([0-9a-f]+)>/) {
			$declared = $self->{entries}{hex($1)};
		}
		my $type = $self->type_of($variable) // $self->type_of($declared);
		for my $found (@{$self->inside($type, $name)}) {
			$all{$address + $found->[0]} = ($variable->{name} // $declared->{name}) . $found->[1];
		}
	}
	return \%all;
}

# A member of the struct of that name: where it is, how large one of it is, and how many.
sub member {
	my ($self, $struct, $name) = @_;
	for my $type (values %{$self->{entries}}) {
		next unless $type->{tag} eq 'structure_type' && ($type->{name} // '') eq $struct;
		my ($member) = grep { ($_->{name} // '') eq $name } @{$type->{children}} or next;
		my $of = $self->{entries}{$self->type_of($member)};
		my $count = $of->{tag} eq 'array_type' ? $self->count($of) : 1;
		return (number($member->{data_member_location}), $self->size($self->type_of($member)) / $count, $count);
	}
	return;
}

# The names of all structs that have one of that name inside.
sub structs_with {
	my ($self, $name) = @_;
	my %with;
	for my $at (keys %{$self->{entries}}) {
		my $type = $self->{entries}{$at};
		next unless $type->{tag} eq 'structure_type' && defined $type->{name} && $type->{name} ne $name;
		$with{$type->{name}} = 1 if @{$self->inside($at, $name)};
	}
	return sort keys %with;
}

# The name of a type, through arrays and typedefs.
sub struct_of {
	my ($self, $at) = @_;
	my $type = defined $at ? $self->{entries}{$at} : undef;
	return '' unless $type;
	return $type->{name} // '' if $type->{tag} =~ /^(?:structure|union)_type$/;
	return $type->{tag} =~ /^(?:array_type|typedef|volatile_type|atomic_type)$/ ? $self->struct_of($self->type_of($type)) : '';
}

# Variables in these parts of the memory, whose struct (or '') is wanted: by file.
sub state {
	my ($self, $parts, $wanted) = @_;
	my %of;
	for my $unit (grep { $_->{tag} eq 'compile_unit' } values %{$self->{entries}}) {
		my @in = ($unit);
		while (my $entry = shift(@in)) {
			push(@in, @{$entry->{children}});
			next unless $entry->{tag} eq 'variable' && ($entry->{location} // '') =~ /DW_OP_addr: ([0-9a-f]+)\)/;
			my $address = hex($1);
			my $declared = ($entry->{specification} // '') =~ /<0x([0-9a-f]+)>/ ? $self->{entries}{hex($1)} : $entry;
			next unless grep { $address >= $_->[0] && $address < $_->[1] } @$parts;
			next unless $wanted->($self->struct_of($self->type_of($entry) // $self->type_of($declared)));
			push(@{$of{$unit->{name}}}, $entry->{name} // $declared->{name});
		}
	}
	return \%of;
}

# The objects that a section of pointers points to.
sub listed {
	my ($file, $section) = @_;
	my ($from, $size) = map { /\s\Q$section\E\s+PROGBITS\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)/ ? (hex($1), hex($2)) : () }
		`readelf -SW '$file'`;
	return {} unless defined $from;
	my %to;
	for (`readelf -rW '$file'`) {
		next unless /^([0-9a-f]+)\s+[0-9a-f]+\s+R_\w+_RELATIV\w*\s+([0-9a-f]+)/;
		$to{hex($2)}++ if hex($1) >= $from && hex($1) < $from + $size;
	}
	return \%to;
}

1;
