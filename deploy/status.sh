#!/bin/sh
# What became of a run: a row a node, those that failed first. Ends with 3 unless all are done.
#
#   status.sh RUN [NODES]
#
# NODES: a file with the names of the nodes that were to run, one a line (without it RUN/nodes, where there is one). A node that has not
# written anything is `lost`; so is one that was killed or whose machine died: it still says `running` when the launcher has ended.
set -u
[ $# -ge 1 ] || { echo "usage: status.sh RUN [NODES]" >&2; exit 2; }
run=$1 nodes=${2:-$1/nodes} tab=$(printf '\t')
rows=$(
    for folder in "$run"/*/; do
        [ -d "$folder" ] || continue
        reports=$(find "$folder" -name report.json | wc -l | tr -d ' ')
        line=$(head -n 1 "$folder/status" 2>/dev/null)
        name=$(basename "$folder")
        [ -n "$line" ] || line="lost$tab$name$tab-$tab-$tab-$tab-${tab}its folder holds no status"
        case $line in done*) [ "$reports" -gt 0 ] || line="failed${line#done}: its report is gone" ;; esac
        printf '%s\t%s\n' "$line" "$reports"
    done
    # The second of a name is NAME.2.
    [ -r "$nodes" ] && grep . "$nodes" | sort | awk '{ n[$0]++; print $0 (n[$0] > 1 ? "." n[$0] : "") }' | while IFS= read -r name; do
        [ -d "$run/$name" ] || printf 'lost\t%s\t-\t-\t-\t-\tit never began\t0\n' "$name"
    done
)
{
    printf 'state\tnode\thost\tbegan\tended\texit\tmessage\treports\n'
    printf '%s\n' "$rows" | sort -t "$tab" -k 1,1r -k 2,2 | grep -v "^done$tab"
    printf '%s\n' "$rows" | sort -t "$tab" -k 2,2 | grep "^done$tab"
} | grep .
[ -n "$rows" ] && ! printf '%s\n' "$rows" | grep -qv "^done$tab" || exit 3
