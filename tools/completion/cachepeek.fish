# SPDX-License-Identifier: MIT
# fish completion for cachepeek(1).

set -g __cachepeek_commands run report compare dcache dtlb icache annotate sharing diff gate merge list doctor help
# Those that start a program, and the options whose value is the next word.
set -g __cachepeek_starting run compare dcache dtlb icache sharing
set -g __cachepeek_valued -i --input -g --groups -e --events -o --output -E --engine -m --machine --machines -d --dir \
	--repeat --what-if --sweep --working-set --sample --quantum --least --sort --cutoff --callers --details --context-lines --color

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

# ---- what is run ----

function __cachepeek_complete_program
	set -l words (__cachepeek_program) (commandline -ct)
	string match -q -- '-*' $words[1]; or __fish_complete_subcommand --commandline $words
end

complete -c cachepeek -n "contains -- (__cachepeek_command) $__cachepeek_starting" -f -a '(__cachepeek_complete_program)'

# ---- commands ----

complete -c cachepeek -n __cachepeek_is_first -l help -s h -d 'what the commands are'
complete -c cachepeek -n __cachepeek_is_first -l version -s V -d 'the version'
complete -c cachepeek -n __cachepeek_is_first -f -a run -d 'run a program'
complete -c cachepeek -n __cachepeek_is_first -f -a report -d 'show a report again'
complete -c cachepeek -n __cachepeek_is_first -f -a compare -d 'run a program on several simulated machines'
complete -c cachepeek -n __cachepeek_is_first -f -a dcache -d 'which code misses the data caches'
complete -c cachepeek -n __cachepeek_is_first -f -a dtlb -d 'which code misses the data TLBs'
complete -c cachepeek -n __cachepeek_is_first -f -a icache -d 'which code misses the instruction cache'
complete -c cachepeek -n __cachepeek_is_first -f -a sharing -d 'which lines threads share'
complete -c cachepeek -n __cachepeek_is_first -f -a annotate -d 'a source file with the misses of its lines'
complete -c cachepeek -n __cachepeek_is_first -f -a diff -d 'what differs between runs'
complete -c cachepeek -n __cachepeek_is_first -f -a gate -d 'is a run worse than a baseline'
complete -c cachepeek -n __cachepeek_is_first -f -a merge -d 'one report of all ranks'
complete -c cachepeek -n __cachepeek_is_first -f -a list -d 'what can be asked for'
complete -c cachepeek -n __cachepeek_is_first -f -a doctor -d 'what can be counted here'
complete -c cachepeek -n __cachepeek_is_first -f -a help -d 'the options and examples of a command'
complete -c cachepeek -n '__cachepeek_is_second help' -f -a "$__cachepeek_commands variables"
complete -c cachepeek -n '__cachepeek_is_later help' -f
complete -c cachepeek -n '__cachepeek_is doctor' -f
complete -c cachepeek -n '__cachepeek_is_second list' -f -a 'events presets groups machines'
complete -c cachepeek -n '__cachepeek_is_later list' -f -a '(__cachepeek_names (commandline -opc)[3])'

# ---- their options ----

complete -c cachepeek -n 'not __cachepeek_program > /dev/null' -l color -x -a 'auto always never' -d 'when text has colours'

complete -c cachepeek -n '__cachepeek_is run compare' -s g -l groups -x -a '(__fish_complete_list , "__cachepeek_names groups")' -d 'groups of derived metrics'
complete -c cachepeek -n '__cachepeek_is run compare' -s e -l events -x -a '(__fish_complete_list , "__cachepeek_names presets")' -d 'events to count'
complete -c cachepeek -n '__cachepeek_is run' -s E -l engine -x -a 'auto perf sim' -d 'who counts'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -s E -l engine -x -a 'sim perf' -d 'each miss, simulated, or samples'
complete -c cachepeek -n '__cachepeek_is run dcache dtlb icache sharing annotate' -s m -l machine -x -a '(__cachepeek_names machines)' -d 'the machine to simulate'
complete -c cachepeek -n '__cachepeek_is compare' -s m -l machines -x -a '(__fish_complete_list , "__cachepeek_names machines")' -d 'the machines to simulate'
complete -c cachepeek -n '__cachepeek_is run dcache dtlb icache sharing annotate' -s d -l dir -x -a '(__fish_complete_directories)' -d 'keep the records there'
complete -c cachepeek -n '__cachepeek_is run report compare dcache dtlb icache sharing annotate diff gate merge' -s o -l output -r -F -d 'where the report goes'
complete -c cachepeek -n '__cachepeek_is run' -s v -l verbose -d 'say more'
complete -c cachepeek -n '__cachepeek_is list' -s v -l verbose -d 'a line for each PMU'
complete -c cachepeek -n '__cachepeek_is run' -l passes -d 'run the program as often as its events need'
complete -c cachepeek -n '__cachepeek_is run' -l repeat -x -d 'run the program several times'
complete -c cachepeek -n '__cachepeek_is run' -l confirm -d 'compare predicted time with native time'
complete -c cachepeek -n '__cachepeek_is run' -l what-if -x -d 'change the simulated machine'
complete -c cachepeek -n '__cachepeek_is run' -l sweep -x -d 'misses of a level of other sizes'
complete -c cachepeek -n '__cachepeek_is run compare' -l sample -x -a 'fast balanced' -d 'simulate a sample, and estimate'
complete -c cachepeek -n '__cachepeek_is run' -l working-set -x -d 'lines and pages touched in so many instructions'
complete -c cachepeek -n '__cachepeek_is run report merge compare diff dcache dtlb icache sharing list doctor' -l json -d 'JSON on standard output'
complete -c cachepeek -n '__cachepeek_is report' -l forget -d 'remove the runs that are kept'
complete -c cachepeek -n '__cachepeek_is report merge compare diff dcache dtlb icache sharing' -s v -l verbose -d 'the whole text'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -l sort -x -a 'misses latency avg' -d 'what places are ordered by'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -l cutoff -x -d 'leave small rows out'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -l details -x -a 'src insn all' -d 'below each function'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache annotate' -l context-lines -x -d 'lines of source around a statement'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache sharing annotate' -l debuginfod -d 'ask servers for debugging information'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -l sharing -d 'also look for false sharing (dcache)'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -l line-use -d 'also note which bytes of lines are used (dcache)'
complete -c cachepeek -n '__cachepeek_is run dcache dtlb icache' -l call-paths -d 'also count by call path'
complete -c cachepeek -n '__cachepeek_is run compare dcache dtlb icache sharing' -l reproducible -d 'the same counts in each run'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -l callers -x -d 'who calls a function'
complete -c cachepeek -n '__cachepeek_is sharing' -l quantum -x -d 'data references of a turn'
complete -c cachepeek -n '__cachepeek_is sharing' -l least -x -d 'transfers of the lines that are shown'
complete -c cachepeek -n '__cachepeek_is annotate' -s p -l profile -x -a 'dcache dtlb icache' -d 'which misses'
complete -c cachepeek -n '__cachepeek_is annotate' -s i -l input -r -F -d 'the JSON of a run'
complete -c cachepeek -n '__cachepeek_is dcache dtlb icache' -s i -l input -r -F -d 'what perf recorded'
complete -c cachepeek -n '__cachepeek_is gate' -l update -d 'write the values to the baseline'
complete -c cachepeek -n '__cachepeek_is gate' -l metrics -x -d 'of a new baseline'
complete -c cachepeek -n '__cachepeek_is gate' -l tolerance -x -d 'how much worse is allowed'
complete -c cachepeek -n '__cachepeek_is gate' -l annotate -d 'for the log of GitHub'
complete -c cachepeek -n '__cachepeek_is diff' -l fail-if -x -d 'what makes the status 3'
complete -c cachepeek -n '__cachepeek_is diff' -l all -d 'all values'
complete -c cachepeek -n '__cachepeek_is diff' -l call-paths -d 'what changed between call paths'
complete -c cachepeek -n '__cachepeek_is list' -s p -l pmu -x -a '(__cachepeek_pmus)' -d 'of another processor'
complete -c cachepeek -n '__cachepeek_is list' -l check -d 'look all events up'
complete -c cachepeek -n '__cachepeek_is doctor' -l verify -d 'compare presets with known counts'
complete -c cachepeek -n '__cachepeek_is doctor' -l calibrate -d 'measure this host'
complete -c cachepeek -n '__cachepeek_is doctor' -s o -l output -r -F -d 'machine file to write'
