#!/bin/bash
# Probes the nodes of a Slurm allocation with one task per node. As a job array, it probes each node when it becomes free.
#
#   sbatch --nodes=100 --exclusive slurm/srun.sh /shared/runs/2026-11 --quick
#   salloc --nodes=4 --exclusive slurm/srun.sh …
#   sbatch --array=1-100%10 --nodes=1 --exclusive slurm/srun.sh …
#
# RUN has to be on a file system that all nodes share. Tasks of a job array may get the same node; run `status.sh RUN` when all have ended.
#SBATCH --job-name=timermeter
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:20:00
set -u
run=${1:?usage: srun.sh RUN [ARGUMENT OF PROBE…]}
shift
# The prefix keeps a path that begins with a hyphen from being parsed as an option.
case $run in /*) ;; *) run=./$run ;; esac
# sbatch runs a copy of this file in another folder.
deploy=${TIMERMETER_DEPLOY:-${SLURM_SUBMIT_DIR:-.}/deploy}
[ -x "$deploy/node.sh" ] || deploy=$(cd -- "$(dirname -- "$0")/.." && pwd)
[ -z "${SLURM_ARRAY_TASK_ID:-}" ] || exec "$deploy/node.sh" "$run" "$SLURMD_NODENAME" "$@"
mkdir -p "$run" && scontrol show hostnames "$SLURM_JOB_NODELIST" >"$run/nodes"
# shellcheck disable=SC2016
# --kill-on-bad-exit=0: a failed node does not stop the others. --wait=0: nor does the first node that exits.
srun --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 \
    sh -c 'run=$1; deploy=$2; shift 2; exec "$deploy/node.sh" "$run" "$SLURMD_NODENAME" "$@"' node "$run" "$deploy" "$@"
"$deploy/status.sh" "$run"
