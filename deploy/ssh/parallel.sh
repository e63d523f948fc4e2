#!/bin/bash
# Probes the nodes of a list over ssh, JOBS (50) at once; the reports come back over the same connection, so that nothing need be shared.
#
#   ssh/parallel.sh RUN NODES [ARGUMENT OF PROBE…]
#
# NODES: a file, [user@]host a line. SSH: how to reach them (ssh -o BatchMode=yes -o ConnectTimeout=10), in words that hold no blanks; the
# host stands behind it and `--`. Told to stop (TERM, INT, HUP) it stops all nodes first.
set -u
[ $# -ge 2 ] || { echo "usage: parallel.sh RUN NODES [ARGUMENT OF PROBE…]" >&2; exit 2; }
# A path is none of the options of whom it is handed to.
case $1 in /*) run=$1 ;; *) run=./$1 ;; esac
case $2 in /*) nodes=$2 ;; *) nodes=./$2 ;; esac
deploy=$(cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
shift 2
mkdir -p "$run" && LC_ALL=C tr -c 'A-Za-z0-9._\n-' _ <"$nodes" >"$run/nodes" || exit 1
export REMOTE="${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}"
stopped=''
stop() {
    stopped=$1
    [ -z "${!:-}" ] || kill -TERM -- "-$!" 2>/dev/null
}
trap 'stop 143' TERM
trap 'stop 130' INT
trap 'stop 129' HUP
# With a process group of its own, so that all of them can be told to stop. No shell reads a host or an argument: xargs hands a line to
# each node as one word, behind those that are the same for all.
set -m
# shellcheck disable=SC2016
xargs -0 -r -n 1 -P "${JOBS:-50}" sh -c '
    node=$1 run=$2
    for host; do :; done
    shift 2
    count=$# number=0
    for word; do
        number=$((number + 1))
        [ "$number" = "$count" ] || set -- "$@" "$word"
    done
    shift "$count"
    export REMOTE_HOST="$host"
    exec "$node" "$run" "$host" "$@"' node "$deploy/node.sh" "$run" "$@" < <(grep . "$nodes" | tr '\n' '\0') &
pool=$!
# It may have come before there was anything to stop.
[ -n "$stopped" ] || wait "$pool"
# A signal ends the wait, and xargs, but nodes take a moment to stop; and what comes while one is being forked is lost.
while kill -0 -- "-$pool" 2>/dev/null; do
    [ -z "$stopped" ] || stop "$stopped"
    sleep 0.2
done
trap - TERM INT HUP
"$deploy/status.sh" "$run"
exit "${stopped:-$?}"
