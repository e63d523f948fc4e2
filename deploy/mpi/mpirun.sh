#!/bin/sh
# One rank a node probes it. HOSTFILE: `node7 slots=1` a line, or none to use what the batch system gave.
#
#   mpi/mpirun.sh RUN HOSTFILE|- [ARGUMENT OF PROBE…]
#
# MPIRUN_OPTIONS are handed to mpirun (Open MPI; its own variables tell the rank).
set -u
[ $# -ge 2 ] || { echo "usage: mpirun.sh RUN HOSTFILE|- [ARGUMENT OF PROBE…]" >&2; exit 2; }
run=$1 hosts=$2 deploy=$(cd "$(dirname "$0")/.." && pwd)
shift 2
[ "$hosts" = - ] && where="" || where="--hostfile $hosts"
# shellcheck disable=SC2086
mpirun $where ${MPIRUN_OPTIONS:---map-by ppr:1:node} --bind-to none ${TIMERMETER:+-x TIMERMETER} ${LIMIT:+-x LIMIT} \
    sh -c 'run=$1; deploy=$2; shift 2; exec "$deploy/node.sh" "$run" "$(uname -n)-$OMPI_COMM_WORLD_RANK" "$@"' node "$run" "$deploy" "$@"
"$deploy/status.sh" "$run"
