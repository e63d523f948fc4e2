# Prints the completions that zsh offers for a line, one per line. An interactive zsh in a terminal of its own
# completes the line.
line=$1 scripts=$2 found=${2%/}/found
rm -f $found.ended
: >$found
zmodload zsh/zpty
zpty z zsh -f -i
send() { zpty -w z "$1" }
send "PROMPT= ; fpath=($scripts \$fpath); autoload -Uz compinit && compinit -u -D"
send "compadd() { if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi; local -a hits; builtin compadd -A hits \"\$@\"; print -rl -- \$hits >>$found; builtin compadd \"\$@\" }"
send "ended() { : >$found.ended }; comppostfuncs=(ended)"
send "bindkey '^I' complete-word"
zpty -w -n z "$line"$'\t'
for _ in {1..1200}; do [[ -e $found.ended ]] && break; zpty -r -t z waste; sleep 0.05; done
zpty -d z
cat $found
