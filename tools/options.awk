# SPDX-License-Identifier: MIT
# The options of all commands, from one table for each: what --help prints, and the
# completions of bash, zsh and fish.
#	awk -v write=help -f tools/options.awk TABLE
#	awk -v write=bash|zsh|fish -v template=FILE -f tools/options.awk tools/help/cachepeek.help TABLE...
# A table is tools/options/COMMAND.options (profile is that of dcache, dtlb and icache):
#	-o, --output FILE,...           the option's names and its argument; [=WHAT] may be left out
#		completes: KIND         of the argument: groups, events, machine, machines, pmu, file,
#		                        directory, or the words that it may be
#		in short: TEXT          for completions, which else have the meaning
#		MEANING                 for --help, in lines of any length
# In a template the line "# @options" stands for what is made of the tables; the commands
# and their meanings are those of tools/help/cachepeek.help.

BEGIN { COLUMN = 27; WIDTH = 80 }

FNR == 1 {
	table = FILENAME
	sub(/.*\//, "", table)
	sub(/\.[a-z]*$/, "", table)
}
FILENAME ~ /\.help$/ {
	if (/^  [a-z]+  /) {
		command[++commands] = $1
		sub(/^  [a-z]+ +/, "")
		does[command[commands]] = $0
	}
	next
}
/^#/ || /^$/ { next }
/^\tcompletes: / { kind[options] = substr($0, 13); next }
/^\tin short: / { brief[options] = substr($0, 12); next }
/^\t/ { meaning[options] = meaning[options] (meaning[options] ? " " : "") substr($0, 2); next }
{
	head[++options] = $0
	of[options] = table == "profile" ? "dcache dtlb icache" : table
	while (match($0, /^--?[A-Za-z][a-z-]*/)) {
		name[options, ++names[options]] = substr($0, 1, RLENGTH)
		$0 = substr($0, RLENGTH + 1)
		if (!sub(/^, /, ""))
			break
	}
	if (/^[ =]/)
		argument[options] = tolower(substr($0, 2))
}

END {
	for (i = 1; i <= options; i++)
		if (!(i in brief))
			brief[i] = meaning[i]
	if (write == "help") {
		help()
		exit
	}
	while ((getline line < template) > 0)
		if (line != "# @options")
			print line
		else if (write == "bash")
			bash()
		else if (write == "zsh")
			zsh()
		else
			fish()
}

# The names of an option with `between` between them.
function all_names(i, between, at, text)
{
	for (at = 1; at <= names[i]; at++)
		text = text (at > 1 ? between : "") name[i, at]
	return text
}

function is_of(i, what) { return index(" " of[i] " ", " " what " ") }

# Options whose argument is the next word.
function valued(between, i, at, seen, text)
{
	text = "--color"
	for (i = 1; i <= options; i++)
		for (at = 1; i in argument && at <= names[i]; at++)
			if (!seen[name[i, at]]++)
				text = text between name[i, at]
	return text
}

function all_commands(i, text)
{
	for (i = 1; i <= commands; i++)
		text = text (i > 1 ? " " : "") command[i]
	return text
}

function spaces(count) { return sprintf("%" count "s", "") }

# ---- --help ----

function help(i, at, word, n, words, line)
{
	print "# Made of tools/options by tools/options.awk.\nOptions:"
	for (i = 1; i <= options; i++) {
		line = "  " head[i]
		if (length(line) > COLUMN - 2) {
			print line
			line = ""
		}
		line = line spaces(COLUMN - 2 - length(line)) " "
		n = split(meaning[i], words, " ")
		for (at = 1; at <= n; at++) {
			if (length(line) + 1 + length(words[at]) > WIDTH) {
				print line
				line = spaces(COLUMN - 1)
			}
			line = line " " words[at]
		}
		print line
	}
	print ""
}

# ---- bash ----

function bash_value(what)
{
	if (what == "groups" || what == "machines")
		return "_cachepeek_list \"$(_cachepeek_names " what ")\""
	if (what == "events")
		return "_cachepeek_list \"$(_cachepeek_names presets)\""
	if (what == "machine")
		what = "$(_cachepeek_names machines)"
	else if (what == "pmu")
		what = "$(_cachepeek_pmus)"
	else if (what == "file")
		return "compopt -o default"
	else if (what == "directory")
		return "compopt -o dirnames"
	return "mapfile -t COMPREPLY < <(compgen -W \"" what "\" -- \"$cur\")"
}

function bash(i, c, at, text)
{
	print "_cachepeek_commands='" all_commands() "'\n\n_cachepeek_options()\n{\n\tcase $1 in"
	for (c = 1; c <= commands; c++) {
		text = ""
		for (i = 1; i <= options; i++)
			if (is_of(i, command[c]))
				text = text (text ? " " : "") all_names(i, " ")
		if (text)
			print "\t" command[c] ") echo '" text "' ;;"
	}
	print "\thelp) echo \"$_cachepeek_commands variables\" ;;\n\tesac\n}\n"
	print "# Whether $1 is an option with a value that follows it.\n_cachepeek_takes_value()\n{\n\tcase $1 in"
	print "\t" valued(" | ") ") return 0 ;;\n\tesac\n\treturn 1\n}\n"
	print "# The value of the option $prev of $command.\n_cachepeek_value()\n{\n\tcase \"$command $prev\" in"
	print "\t*' --color') " bash_value("auto always never") " ;;"
	for (c = 1; c <= commands; c++)
		for (i = 1; i <= options; i++) {
			if (!is_of(i, command[c]) || !(i in kind))
				continue
			text = ""
			for (at = 1; at <= names[i]; at++)
				text = text (at > 1 ? " | " : "") "'" command[c] " " name[i, at] "'"
			print "\t" text ") " bash_value(kind[i]) " ;;"
		}
	print "\tesac\n}"
}

# ---- zsh ----

function zsh_action(what)
{
	if (what == "groups" || what == "events")
		return "_cachepeek_" what
	if (what == "machine")
		return "_cachepeek_machines"
	if (what == "machines")
		return "_cachepeek_machine_list"
	if (what == "pmu")
		return "_cachepeek_pmus"
	if (what == "file")
		return "_files"
	if (what == "directory")
		return "_directories"
	return what ? "(" what ")" : ""
}

function zsh(i, c, text, any, label)
{
	print "_cachepeek_commands=("
	for (c = 1; c <= commands; c++)
		print "\t'" command[c] ":" does[command[c]] "'"
	print ")\n\n# The options of a command, for _arguments.\n_cachepeek_specs()\n{\n\tcase $1 in"
	for (c = 1; c <= commands; c++) {
		any = 0
		for (i = 1; i <= options; i++) {
			if (!is_of(i, command[c]))
				continue
			if (!any++)
				print "\t" command[c] ") specs=("
			text = names[i] > 1 ? "{" all_names(i, ",") "}'" : "'" name[i, 1]
			if (meaning[i] ~ /may be repeated/)
				text = names[i] > 1 ? "\\*" text : "'*" substr(text, 2)
			text = text "[" brief[i] "]"
			if (i in argument) {
				label = argument[i]
				gsub(/[^a-z0-9]+/, " ", label)
				sub(/ +$/, "", label)
				text = text ":" label ":" zsh_action(kind[i])
			}
			print "\t\t" text "'"
		}
		if (any)
			print "\t\t) ;;"
	}
	print "\tesac\n}"
}

# ---- fish ----

function fish_value(i, what)
{
	if (!(i in argument))
		return ""
	if (what == "file")
		return " -r -F"
	if (what == "")
		return " -x"
	if (what == "groups" || what == "machines")
		what = "(__fish_complete_list , \"__cachepeek_names " what "\")"
	else if (what == "events")
		what = "(__fish_complete_list , \"__cachepeek_names presets\")"
	else if (what == "machine")
		what = "(__cachepeek_names machines)"
	else if (what == "pmu")
		what = "(__cachepeek_pmus)"
	else if (what == "directory")
		what = "(__fish_complete_directories)"
	return " -x -a '" what "'"
}

function fish(i, c, at, text)
{
	print "set -g __cachepeek_commands " all_commands()
	print "# The options whose value is the next word.\nset -g __cachepeek_valued " valued(" ") "\n"
	for (c = 1; c <= commands; c++)
		print "complete -c cachepeek -n __cachepeek_is_first -f -a " command[c] " -d '" does[command[c]] "'"
	for (i = 1; i <= options; i++) {
		text = ""
		for (at = 1; at <= names[i]; at++)
			text = text (length(name[i, at]) == 2 ? " -s " substr(name[i, at], 2) : " -l " substr(name[i, at], 3))
		print "complete -c cachepeek -n '__cachepeek_is " of[i] "'" text fish_value(i, kind[i]) " -d '" brief[i] "'"
	}
}
