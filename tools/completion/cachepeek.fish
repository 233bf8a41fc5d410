# SPDX-License-Identifier: MIT
# fish completion for cachepeek(1).

# The commands that start a program.
set -g __cachepeek_starting run compare dcache dtlb icache sharing

function __cachepeek_command
	set -l words (commandline -opc)[2..]
	if contains -- "$words[1]" $__cachepeek_commands
		echo $words[1]
	else
		echo run
	end
end

# The program and its arguments up to here; fails before it.
function __cachepeek_program
	set -l words (commandline -opc)[2..]
	contains -- (__cachepeek_command) $__cachepeek_starting; or return 1
	contains -- "$words[1]" $__cachepeek_commands; and set -e words[1]
	while set -q words[1]
		if not string match -q -- '-*' $words[1]
			printf '%s\n' $words
			return 0
		end
		contains -- $words[1] $__cachepeek_valued; and set -e words[1]
		set -e words[1]
	end
	return 1
end

function __cachepeek_is
	not __cachepeek_program > /dev/null; and contains -- (__cachepeek_command) $argv
end

# Is this the first word?
function __cachepeek_is_first
	test (count (commandline -opc)) -eq 1
end

# The word after the command, and those after that.
function __cachepeek_is_second
	contains -- (__cachepeek_command) $argv; and test (count (commandline -opc)) -eq 2
end
function __cachepeek_is_later
	contains -- (__cachepeek_command) $argv; and test (count (commandline -opc)) -gt 2
end

# The first word of each line of a list that is not indented.
function __cachepeek_names
	cachepeek list $argv 2> /dev/null | string replace -rf '^([A-Za-z][A-Za-z0-9_-]*):? .*' '$1'
end

function __cachepeek_pmus
	cachepeek list presets --pmu all 2> /dev/null | string replace -r ' .*' ''
end

# ---- commands and their options ----

# @options

# ---- what is run ----

function __cachepeek_complete_program
	set -l words (__cachepeek_program) (commandline -ct)
	string match -q -- '-*' $words[1]; or __fish_complete_subcommand --commandline $words
end

complete -c cachepeek -n "contains -- (__cachepeek_command) $__cachepeek_starting" -f -a '(__cachepeek_complete_program)'

# ---- and what else there is ----

complete -c cachepeek -n __cachepeek_is_first -l help -s h -d 'what the commands are'
complete -c cachepeek -n __cachepeek_is_first -l version -s V -d 'the version'
complete -c cachepeek -n '__cachepeek_is_second help' -f -a "$__cachepeek_commands variables"
complete -c cachepeek -n '__cachepeek_is_later help' -f
complete -c cachepeek -n '__cachepeek_is doctor' -f
complete -c cachepeek -n '__cachepeek_is_second list' -f -a 'events presets groups machines'
complete -c cachepeek -n '__cachepeek_is_later list' -f -a '(__cachepeek_names (commandline -opc)[3])'

complete -c cachepeek -n 'not __cachepeek_program > /dev/null' -l color -x -a 'auto always never' -d 'when text has colours'
