#!/bin/sh
# One rank a node probes it. HOSTFILE: `node7 slots=1` a line, or none to use what the batch system gave.
#
#   mpi/mpirun.sh RUN HOSTFILE|- [ARGUMENT OF PROBE…]
#
# MPIRUN_OPTIONS are handed to mpirun (Open MPI), words at blanks.
set -u
[ $# -ge 2 ] || { echo "usage: mpirun.sh RUN HOSTFILE|- [ARGUMENT OF PROBE…]" >&2; exit 2; }
# A path is none of the options of whom it is handed to.
case $1 in /*) run=$1 ;; *) run=./$1 ;; esac
case $2 in -) hosts='' ;; /*) hosts=$2 ;; *) hosts=./$2 ;; esac
deploy=$(cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
shift 2
set -f
# shellcheck disable=SC2016,SC2086
mpirun ${hosts:+--hostfile "$hosts"} ${MPIRUN_OPTIONS:---map-by ppr:1:node} --bind-to none ${TIMERMETER:+-x TIMERMETER} ${LIMIT:+-x LIMIT} \
    sh -c 'run=$1; deploy=$2; shift 2; exec "$deploy/node.sh" "$run" "$(uname -n)" "$@"' node "$run" "$deploy" "$@"
"$deploy/status.sh" "$run"
