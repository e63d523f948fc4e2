#!/bin/sh
# Prints the state of each node of a run, failed nodes first. Exits with 3 unless all nodes are done.
#
#   status.sh RUN [NODES]
#
# NODES: a file with the names of the expected nodes, one per line (default: RUN/nodes, if it exists). A node that has written nothing is
# `lost`. A node that was killed or has crashed is still `running` after the launcher has exited. A node with the state `done`
# but no report has failed. The script reads only regular files of at most 10 MiB, each for at most 10 s, so a node cannot block it.
set -u
[ $# -ge 1 ] || { echo "usage: status.sh RUN [NODES]" >&2; exit 2; }
export LC_ALL=C
tab=$(printf '\t')
# The prefix keeps a path that begins with a hyphen from being parsed as an option.
path() {
    case $1 in /*) printf %s "$1" ;; *) printf './%s' "$1" ;; esac
}
run=$(path "$1")
nodes=$run/nodes
[ $# -lt 2 ] || nodes=$(path "$2")

# Prints a line for each report among the files, and one for each status, with its first line. Paths may contain line feeds and tabs, so
# the characters 1 and 2 are printed in their place.
# shellcheck disable=SC2016
read_files='BEGIN {
    for (i = 1; i < ARGC; i++) {
        path = ARGV[i]
        text = ""
        while (length(text) < 4096 && (getline line < path) > 0) text = text substr(line, 1, 4096) "\n"
        close(path)
        kind = path ~ /\/status$/ ? "status" : text ~ /"schema": *"timermeter\.report\.v2"/ ? "report" : ""
        if (kind == "status") sub(/\n.*/, "", text)
        else text = ""
        gsub(/\n/, "\1", path)
        gsub(/\t/, "\2", path)
        if (kind) print kind "\t" substr(path, 3) "\t" substr(text, 1, 1000)
    }
}'
# Prints a row for each folder and for each expected node without a folder. A file may be among the lines twice.
# shellcheck disable=SC2016
judge='
function row(state, node, message) { return state "\t" node "\t-\t-\t-\t-\t" message }
{ kind = $1; path = $2 }
kind == "folder" { folders[path] }
# The names of folders as node.sh makes them; the second node of a name is NAME.2.
kind == "node" { count = ++named[path]; expected[count > 1 ? path "." count : path] }
{ depth = split(path, parts, "/"); node = parts[1] }
kind == "report" && !(path in seen) { seen[path]; reports[node]++ }
kind == "status" && depth == 2 { sub(/^[^\t]*\t[^\t]*\t/, ""); status[node] = $0 }
END {
    for (node in folders) {
        line = status[node]
        if (line == "") line = row("lost", node, "its folder holds no status")
        if (line ~ /^done\t/ && !reports[node]) line = "failed" substr(line, 5) ": it has no report"
        if (line !~ /^(done|running|failed|cancelled|lost)\t/) {
            gsub(/\t/, " ", line)
            line = row("failed", node, "its status is none: " line)
        }
        print line "\t" reports[node] + 0
    }
    for (node in expected) if (!(node in folders)) print row("lost", node, "it never began") "\t0"
}'
rows=$(
    {
        [ -r "$nodes" ] && { [ $# -ge 2 ] || [ -f "$nodes" ]; } && tr -c 'A-Za-z0-9._\n-' _ <"$nodes" | grep . |
            sed "s/^\./node./; s/^nodes\$/node.nodes/; s/^/node$tab/"
        cd "$run" 2>/dev/null && {
            for folder in */; do [ -d "$folder" ] && printf '%s\0' "${folder%/}"; done | tr '\n\t\0' '\1\2\n' | sed "s/^/folder$tab/"
            # If one file of a hundred takes too long, each is read by itself. 20481 blocks have 512 bytes each.
            # shellcheck disable=SC2016
            find . -type f \( -name status -o -name report.json \) -size -20481 -print0 2>/dev/null | xargs -0 -r -n 100 sh -c '
                timeout 10 awk "$0" "$@" && exit
                for file; do timeout 10 awk "$0" "$file"; done' "$read_files"
        }
    } | awk -F "$tab" "$judge" | sed 's/µ/u/g; s/±/+-/g; s/…/.../g; s/–/-/g; s/−/-/g' | tr -c '\11\12\40-\176' '?'
)
{
    printf 'state\tnode\thost\tbegan\tended\texit\tmessage\treports\n'
    printf '%s\n' "$rows" | sort -t "$tab" -k 1,1r -k 2,2 | grep -v "^done$tab"
    printf '%s\n' "$rows" | sort -t "$tab" -k 2,2 | grep "^done$tab"
} | grep .
[ -n "$rows" ] && ! printf '%s\n' "$rows" | grep -qv "^done$tab" || exit 3
