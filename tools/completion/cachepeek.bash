# SPDX-License-Identifier: MIT
# bash completion for cachepeek(1).

# The first word of each line of a list that is not indented.
_cachepeek_names()
{
	cachepeek list "$1" 2> /dev/null | sed -n 's/^\([A-Za-z][A-Za-z0-9_-]*\):\{0,1\} .*/\1/p'
}

_cachepeek_pmus()
{
	cachepeek list presets --pmu all 2> /dev/null | sed 's/ .*//'
}

# Completes the last of a comma list.
_cachepeek_list()
{
	local before=

	case $cur in
	*,*) before=${cur%,*}, ;;
	esac
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
	compopt -o nospace
}

# @options

_cachepeek()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=run at=1 words

	COMPREPLY=()
	case " $_cachepeek_commands " in
	*" ${COMP_WORDS[1]} "*) command=${COMP_WORDS[1]} at=2 ;;
	esac
	[ "$COMP_CWORD" -gt 1 ] || at=1
	case $command in
	run | compare | dcache | dtlb | icache | sharing)
		while [ "$at" -lt "$COMP_CWORD" ]; do
			case ${COMP_WORDS[at]} in
			-*) _cachepeek_takes_value "${COMP_WORDS[at]}" && at=$((at + 1)) ;;
			*) _cachepeek_program "$at"; return ;;
			esac
			at=$((at + 1))
		done
		;;
	esac
	if _cachepeek_takes_value "$prev"; then
		_cachepeek_value
		return
	fi
	words=
	case $cur in
	-*) words="$(_cachepeek_options "$command") --color" ;;
	esac
	[ "$COMP_CWORD" -gt 1 ] || words="${words:+$words --help --version }$_cachepeek_commands"
	case $command$COMP_CWORD in
	list2) words='events presets groups machines' ;;
	list*) words="$words $(_cachepeek_names "${COMP_WORDS[2]}")" ;;
	help*) words=$(_cachepeek_options help) ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	# Without a letter, only our commands: the programs are thousands.
	[ "$COMP_CWORD$cur" != 1 ] || return
	case $command$cur in
	run-* | compare-* | dcache-* | dtlb-* | icache-* | sharing-* | list* | doctor* | help*) ;;
	run* | compare* | dcache* | dtlb* | icache* | sharing*) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$cur"); compopt -o filenames ;;
	*) compopt -o default ;;
	esac
}

# The program's own completion, where bash-completion is there.
_cachepeek_program()
{
	if declare -F _command_offset > /dev/null; then
		_command_offset "$1"
	else
		compopt -o default
	fi
}

complete -F _cachepeek cachepeek
