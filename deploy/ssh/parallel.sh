#!/bin/bash
# Probes the nodes of a list over ssh. The reports return over the same connection, so the nodes need no shared file system.
#
#   ssh/parallel.sh RUN NODES [ARGUMENT OF PROBE…]
#
# NODES: a file with one [user@]host per line. JOBS: number of nodes that are probed at the same time (default: 50). SSH: the command that
# reaches a node (default: ssh -o BatchMode=yes -o ConnectTimeout=10); it is split at blanks, and `--` and the host are appended. On TERM,
# INT or HUP the script stops all nodes before it exits.
set -u
[ $# -ge 2 ] || { echo "usage: parallel.sh RUN NODES [ARGUMENT OF PROBE…]" >&2; exit 2; }
# The prefix keeps a path that begins with a hyphen from being parsed as an option.
case $1 in /*) run=$1 ;; *) run=./$1 ;; esac
case $2 in /*) nodes=$2 ;; *) nodes=./$2 ;; esac
deploy=$(cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
shift 2
mkdir -p "$run" || exit 1
# NODES may be the list of an earlier run in the same folder.
[ "$nodes" -ef "$run/nodes" ] || LC_ALL=C tr -c 'A-Za-z0-9._\n-' _ <"$nodes" >"$run/nodes" || exit 1
export REMOTE="${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}"
stopped=''
stop() {
    stopped=$1
    [ -z "${!:-}" ] || kill -TERM -- "-$!" 2>/dev/null
}
trap 'stop 143' TERM
trap 'stop 130' INT
trap 'stop 129' HUP
# Start xargs in a separate process group, so stop() can signal all of its children. No shell interprets a host or an argument: xargs
# appends each line as one word to the arguments that all nodes share.
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
# A signal may have arrived before xargs started.
[ -n "$stopped" ] || wait "$pool"
# A signal ends `wait` and xargs, but nodes take a moment to stop. Repeat it, because a child that is being forked loses a signal.
while kill -0 -- "-$pool" 2>/dev/null; do
    [ -z "$stopped" ] || stop "$stopped"
    sleep 0.2
done
trap - TERM INT HUP
"$deploy/status.sh" "$run"
exit "${stopped:-$?}"
