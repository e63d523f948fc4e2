#!/bin/sh
# Probes the nodes of a list over ssh, JOBS (50) at once; the reports come back over the same connection, so that nothing need be shared.
#
#   ssh/parallel.sh RUN NODES [ARGUMENT OF PROBE…]
#
# NODES: a file, [user@]host a line. SSH: how to reach them (ssh -o BatchMode=yes -o ConnectTimeout=10).
set -u
[ $# -ge 2 ] || { echo "usage: parallel.sh RUN NODES [ARGUMENT OF PROBE…]" >&2; exit 2; }
run=$1 nodes=$2 deploy=$(cd "$(dirname "$0")/.." && pwd)
shift 2
mkdir -p "$run" && tr -c 'A-Za-z0-9._\n-' _ <"$nodes" >"$run/nodes" || exit 1
export SSH="${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}"
parallel --will-cite -j "${JOBS:-50}" -a "$nodes" \
    REMOTE='"$SSH "{}' "$deploy/node.sh" "$run" '{}' "$@"
"$deploy/status.sh" "$run"
