#!/bin/sh
# What each node runs: probes it, and keeps report and outcome in a folder of its own below RUN.
#
#   node.sh RUN NODE [ARGUMENT OF PROBE…]
#
# RUN/NODE/status holds a line: state, node, host, begin, end (s since 1970), exit status, message. RUN/NODE/<platform>/<date>/ holds
# the report. Where NODE is taken (two nodes of one name, or a second try) it becomes NODE.2 and so on. The line is printed as well, in
# case the shared disk is full. It ends with 0 even where the probe failed: launchers would stop the other nodes. status.sh tells.
#
# TIMERMETER: the program (timermeter). LIMIT: seconds that a probe may take (900).
# REMOTE: how to reach the node, as in `ssh node7`; then the probe runs there, and nothing but this script writes files.
set -u
[ $# -ge 2 ] || { echo "usage: node.sh RUN NODE [ARGUMENT OF PROBE…]" >&2; exit 2; }
run=$1 node=$(printf %s "$2" | tr -c 'A-Za-z0-9._-' _)
shift 2
case $node in '' | .*) node=node$node ;; esac
began=$(date +%s) host=$(uname -n) state=running code=- message=- folder=

tell() {
    line=$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s' "$state" "$node" "$host" "$began" "${1:--}" "$code" "$message")
    # Whole or not at all: where the disk is full, the older line stays.
    if [ -n "$folder" ] && ! { printf '%s\n' "$line" >"$folder/.status" && mv "$folder/.status" "$folder/status"; } 2>/dev/null; then
        rm -f "$folder/.status"
    fi
}

mkdir -p "$run" 2>/dev/null
number=1 name=$node
while ! message=$(mkdir "$run/$name" 2>&1); do
    if [ ! -d "$run/$name" ] || [ "$number" -ge 1000 ]; then
        state=failed code=1 message=$(printf %s "$message" | tr '\t\n' '  ')
        tell "$(date +%s)"
        printf '%s\n' "$line"
        exit 0
    fi
    number=$((number + 1)) name=$node.$number
done
node=$name folder=$run/$name message=-
tell
trap 'state=cancelled; tell "$(date +%s)"; printf "%s\n" "$line"; exit 0' TERM INT HUP

probe() {
    if [ -n "${REMOTE:-}" ]; then
        # What is cut off is never called report.json.
        timeout "${LIMIT:-900}" $REMOTE "${TIMERMETER:-timermeter}" probe --quiet --format json "$@" \
            >"$folder/.report" </dev/null && mv "$folder/.report" "$folder/report.json"
    else
        timeout "${LIMIT:-900}" "${TIMERMETER:-timermeter}" probe --quiet --save "$folder" "$@" >/dev/null </dev/null
    fi
}

# In the background, so that a signal is seen at once.
errors=$(mktemp) || errors=/dev/null
probe "$@" 2>"$errors" &
child=$!
trap 'kill "$child" 2>/dev/null; wait "$child"; rm -f "$folder/.report" "$errors"; state=cancelled; tell "$(date +%s)"; printf "%s\n" "$line"; exit 0' TERM INT HUP
wait "$child"
code=$?
# 3: done, but a timer that was asked for by name could not be characterised.
case $code in 0 | 3) state=done ;; *) state=failed ;; esac
message=$(tail -n 1 "$errors" | tr '\t' ' ' | cut -c 1-300)
[ "$errors" = /dev/null ] || rm -f "$errors"
rm -f "$folder/.report"
[ "$code" = 255 ] && [ -n "${REMOTE:-}" ] && : "${message:=the connection was lost}"
[ "$code" = 124 ] && message="it took longer than ${LIMIT:-900} s"
: "${message:=-}"
tell "$(date +%s)"
printf '%s\n' "$line"
