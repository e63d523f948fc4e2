#!/bin/bash
# Probes the nodes of an allocation, one task a node: all at once, or as they come free, as a job array.
#
#   sbatch --nodes=100 --exclusive slurm/srun.sh /shared/runs/2026-11 --quick
#   salloc --nodes=4 --exclusive slurm/srun.sh …
#   sbatch --array=1-100%10 --nodes=1 --exclusive slurm/srun.sh …     several tasks may get the same node: status.sh RUN when all have ended
#
# RUN has to lie on a file system that all nodes see.
#SBATCH --job-name=timermeter
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:20:00
set -u
run=${1:?usage: srun.sh RUN [ARGUMENT OF PROBE…]}
shift
# A path is none of the options of whom it is handed to.
case $run in /*) ;; *) run=./$run ;; esac
# sbatch runs a copy of this file from elsewhere.
deploy=${TIMERMETER_DEPLOY:-${SLURM_SUBMIT_DIR:-.}/deploy}
[ -x "$deploy/node.sh" ] || deploy=$(cd -- "$(dirname -- "$0")/.." && pwd)
[ -z "${SLURM_ARRAY_TASK_ID:-}" ] || exec "$deploy/node.sh" "$run" "$SLURMD_NODENAME" "$@"
mkdir -p "$run" && scontrol show hostnames "$SLURM_JOB_NODELIST" >"$run/nodes"
# shellcheck disable=SC2016
# A node that fails does not stop the others; --wait=0: nor does one that ends first.
srun --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 \
    sh -c 'run=$1; deploy=$2; shift 2; exec "$deploy/node.sh" "$run" "$SLURMD_NODENAME" "$@"' node "$run" "$deploy" "$@"
"$deploy/status.sh" "$run"
