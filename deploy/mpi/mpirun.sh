#!/bin/sh
# Probes nodes by Open MPI, with one rank per node. HOSTFILE: a line such as `node7 slots=1` per node; `-` for the nodes of the batch system.
#
#   mpi/mpirun.sh RUN HOSTFILE|- [ARGUMENT OF PROBE…]
#
# MPIRUN_OPTIONS: options for mpirun, separated by blanks (default: --map-by ppr:1:node).
set -u
[ $# -ge 2 ] || { echo "usage: mpirun.sh RUN HOSTFILE|- [ARGUMENT OF PROBE…]" >&2; exit 2; }
# The prefix keeps a path that begins with a hyphen from being parsed as an option.
case $1 in /*) run=$1 ;; *) run=./$1 ;; esac
case $2 in -) hosts='' ;; /*) hosts=$2 ;; *) hosts=./$2 ;; esac
deploy=$(cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
shift 2
set -f
# shellcheck disable=SC2016,SC2086
mpirun ${hosts:+--hostfile "$hosts"} ${MPIRUN_OPTIONS:---map-by ppr:1:node} --bind-to none ${TIMERMETER:+-x TIMERMETER} ${LIMIT:+-x LIMIT} \
    sh -c 'run=$1; deploy=$2; shift 2; exec "$deploy/node.sh" "$run" "$(uname -n)" "$@"' node "$run" "$deploy" "$@"
"$deploy/status.sh" "$run"
