# Prints the completions that bash offers for a line, one per line.
line=$1 scripts=$2
source "$scripts/timermeter.bash"
completer=$(complete -p timermeter)
completer=${completer#*-F }
read -ra COMP_WORDS <<<"$line"
[[ $line == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
"${completer%% *}" timermeter "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
