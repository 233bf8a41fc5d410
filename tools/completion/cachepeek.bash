# SPDX-License-Identifier: MIT
# bash completion for cachepeek(1).

_cachepeek_commands='run report compare dcache dtlb icache annotate sharing diff gate merge list doctor help'

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

# Whether $1 is an option with a value that follows it.
_cachepeek_takes_value()
{
	case $1 in
	-g | --groups | -e | --events | -o | --output | -E | --engine | \
		-m | --machine | --machines | -d | --dir | -p | --pmu | --profile | -i | --input | \
		--repeat | --what-if | --sweep | --working-set | --sample | --quantum | --least | --fail-if | --sort | --cutoff | --callers | --details | --context-lines | --color) return 0 ;;
	esac
	return 1
}

_cachepeek_value()
{
	case $prev in
	-g | --groups) _cachepeek_list "$(_cachepeek_names groups)" ;;
	-e | --events) _cachepeek_list "$(_cachepeek_names presets)" ;;
	-E | --engine) mapfile -t COMPREPLY < <(compgen -W 'auto perf sim' -- "$cur") ;;
	--profile) mapfile -t COMPREPLY < <(compgen -W 'dcache dtlb icache' -- "$cur") ;;
	-p | --pmu) [ "$command" = annotate ] && mapfile -t COMPREPLY < <(compgen -W 'dcache dtlb icache' -- "$cur") ||
		mapfile -t COMPREPLY < <(compgen -W "$(_cachepeek_pmus)" -- "$cur") ;;
	-m | --machine | --machines) mapfile -t COMPREPLY < <(compgen -W "$(_cachepeek_names machines)" -- "$cur") ;;
	--sort) mapfile -t COMPREPLY < <(compgen -W 'misses latency avg' -- "$cur") ;;
	--color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur") ;;
	--details) mapfile -t COMPREPLY < <(compgen -W 'src insn all' -- "$cur") ;;
	-d | --dir) compopt -o dirnames ;;
	-i | --input | -o | --output) compopt -o default ;;
	esac
}

_cachepeek_options()
{
	case $1 in
	run) echo '-g --groups -e --events -o --output --json -E --engine -m --machine -d --dir -v --verbose --passes --repeat --confirm --what-if --sweep --working-set --sample --call-paths --reproducible' ;;
	report) echo '-o --output --json -v --verbose --forget' ;;
	dcache) _cachepeek_options icache ;;
	dtlb) _cachepeek_options icache ;;
	icache) echo '-i --input -o --output --json -E --engine -m --machine -d --dir --sort --cutoff --details --context-lines --debuginfod --sharing --line-use --call-paths --callers --reproducible -v --verbose' ;;
	sharing) echo '-o --output --json -m --machine -d --dir --quantum --least --reproducible --debuginfod -v --verbose' ;;
	annotate) echo '-p --profile -i --input -o --output -m --machine -d --dir --context-lines --debuginfod' ;;
	compare) echo '-m --machines -g --groups -e --events -o --output --json --reproducible --sample -v --verbose' ;;
	gate) echo '--update --metrics --tolerance -o --output --annotate' ;;
	diff) echo '--fail-if -o --output --json --all --call-paths -v --verbose' ;;
	merge) echo '-o --output --json -v --verbose' ;;
	list) echo '-p --pmu --json --check -v --verbose' ;;
	doctor) echo '--verify --calibrate -o --output --json' ;;
	help) echo "$_cachepeek_commands variables" ;;
	esac
}

_cachepeek()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=run at=1 words

	COMPREPLY=()
	case ${COMP_WORDS[1]} in
	run | report | compare | dcache | dtlb | icache | annotate | sharing | diff | gate | merge | list | doctor | help) command=${COMP_WORDS[1]} at=2 ;;
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
	words="$(_cachepeek_options "$command") --color"
	[ "$COMP_CWORD" -gt 1 ] || words="$words $_cachepeek_commands --help --version"
	case $command$COMP_CWORD in
	list2) words='events presets groups machines' ;;
	list*) words="$words $(_cachepeek_names "${COMP_WORDS[2]}")" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
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
