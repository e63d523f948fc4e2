#!/bin/bash
# Probes nodes as they come free, a task of a job array each, and as often as there are tasks: several may get the same node.
#
#   sbatch --array=1-100%10 --exclusive slurm/array.sh /shared/runs/2026-11 --quick
#   sbatch --array=1-3 --nodelist=node7 …        the same node three times
#
# When the array has ended: status.sh RUN
#SBATCH --job-name=timermeter
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=00:20:00
set -u
run=${1:?usage: array.sh RUN [ARGUMENT OF PROBE…]}
shift
# A path is none of the options of whom it is handed to.
case $run in /*) ;; *) run=./$run ;; esac
deploy=${TIMERMETER_DEPLOY:-${SLURM_SUBMIT_DIR:-.}/deploy}
exec "$deploy/node.sh" "$run" "$SLURMD_NODENAME-$SLURM_ARRAY_TASK_ID" "$@"
