#!/bin/sh
# Prints the state of each node of a run, failed nodes first. Exits with 3 unless all nodes are done.
#
#   status.sh RUN [NODES]
#
# NODES: a file with the names of the expected nodes, one per line (default: RUN/nodes, if it exists). A node that has written nothing is
# `lost`. A node that was killed or has crashed is still `running` after the launcher has exited. A node with the state `done`
# but no report has failed. The script reads only regular files, each for at most 10 s, so a node cannot block it.
set -u
[ $# -ge 1 ] || { echo "usage: status.sh RUN [NODES]" >&2; exit 2; }
tab=$(printf '\t')
# The prefix keeps a path that begins with a hyphen from being parsed as an option.
path() {
    case $1 in /*) printf %s "$1" ;; *) printf './%s' "$1" ;; esac
}
run=$(path "$1")
nodes=$run/nodes
[ $# -lt 2 ] || nodes=$(path "$2")

# Reduces output of nodes to printable ASCII and tabs, because it must not control the terminal on which it is printed.
plain() {
    LC_ALL=C sed 's/µ/u/g; s/±/+-/g; s/…/.../g; s/–/-/g; s/−/-/g' | LC_ALL=C tr -c '\11\40-\176' '?'
}

# Counts the reports below a folder.
reports() {
    find "${1%/}" -type f -name report.json -exec sh -c '
        for report; do
            if timeout 10 head -c 4096 "$report" | grep -q "\"schema\": *\"timermeter\.report\.v2\""; then echo; fi
        done' reports {} + | wc -l | tr -d ' '
}

rows=$(
    for folder in "$run"/*/; do
        [ -d "$folder" ] || continue
        count=$(reports "$folder")
        line=$([ -f "$folder/status" ] && timeout 10 head -c 1000 "$folder/status" 2>/dev/null | head -n 1 | tr -d '\n' | plain)
        name=$(basename "$folder" | tr -d '\n' | plain | tr "$tab" '?')
        [ -n "$line" ] || line="lost$tab$name$tab-$tab-$tab-$tab-${tab}its folder holds no status"
        case $line in
        "done$tab"*) [ "$count" -gt 0 ] || line="failed${line#done}: it has no report" ;;
        "running$tab"* | "failed$tab"* | "cancelled$tab"* | "lost$tab"*) ;;
        *) line="failed$tab$name$tab-$tab-$tab-$tab-${tab}its status is none: $(printf %s "$line" | tr "$tab" ' ')" ;;
        esac
        printf '%s\t%s\n' "$line" "$count"
    done
    # The names of folders as node.sh makes them; the second node of a name is NAME.2.
    [ -r "$nodes" ] && { [ $# -ge 2 ] || [ -f "$nodes" ]; } && LC_ALL=C tr -c 'A-Za-z0-9._\n-' _ <"$nodes" | grep . | sed 's/^\./node./' | sort |
        awk '{ n[$0]++; print $0 (n[$0] > 1 ? "." n[$0] : "") }' | while IFS= read -r name; do
        [ -d "$run/$name" ] || printf 'lost\t%s\t-\t-\t-\t-\tit never began\t0\n' "$name"
    done
)
{
    printf 'state\tnode\thost\tbegan\tended\texit\tmessage\treports\n'
    printf '%s\n' "$rows" | sort -t "$tab" -k 1,1r -k 2,2 | grep -v "^done$tab"
    printf '%s\n' "$rows" | sort -t "$tab" -k 2,2 | grep "^done$tab"
} | grep .
[ -n "$rows" ] && ! printf '%s\n' "$rows" | grep -qv "^done$tab" || exit 3
