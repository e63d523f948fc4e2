#!/bin/sh
# A gate for CI: compares this machine with the baseline of machines like it, by `timermeter gate`, and ends with its status.
#
#   gate.sh FOLDER [CONDITION...]
#
# FOLDER is kept from run to run. FOLDER/<platform>/ is the baseline of one CPU, hypervisor and system. The first run on such a machine
# makes it (of several at once one makes it, and the others compare with it); remove it to accept what changed. CONDITION is one of
# `gate --fail-if`; without one, `gate` judges the recommended clock.
#
# Exit status: 0 if no condition holds or the baseline was made now, 3 if one holds, 4 if one is undecided, otherwise that of the command
# that failed. Standard output is one line.
#
# TIMERMETER: the program (timermeter). PROBE: arguments of `probe` for the baseline, without blanks in them (--quick). RUNS: number of runs
# of the baseline (5). Their differences are measured, so that smaller changes are found.
set -u
if [ -z "${1:-}" ]; then
    echo "usage: gate.sh FOLDER [CONDITION...]" >&2
    exit 2
fi
# With a prefix, a path that begins with a hyphen is not an option.
case $1 in /*) folder=$1 ;; *) folder=./$1 ;; esac
shift
meter=${TIMERMETER:-timermeter} runs=${RUNS:-5}

copy='' new=$(mktemp -d) || exit 1
trap 'rm -rf "$new" ${copy:+"$copy"}' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# A short probe of one clock finds the name of the platform. The pattern matches `monotonic` only; unlike a name, it need not be resolved.
"$meter" probe --quiet --save="$new/name" --quick 'monotoni?' >/dev/null || exit
for platform in "$new"/name/*/; do
    platform=$(basename "$platform")
done
baseline=$folder/$platform

if ! [ -e "$baseline" ]; then
    while [ "$runs" -gt 0 ]; do
        # shellcheck disable=SC2086 # words
        "$meter" probe --quiet --save="$new/runs" ${PROBE---quick} >/dev/null || exit
        runs=$((runs - 1))
    done
    # The baseline is copied to a name of its own first, so that it is complete or absent. Where another first run has made one meanwhile, mv
    # fails or moves the copy into it, under a hidden name that `gate` does not read.
    mkdir -p "$folder" && copy=$(mktemp -d "$folder/.new.XXXXXX") || exit 1
    name=${copy##*/}
    cp -R "$new/runs/$platform" "$copy/$name" || exit 1
    error=$(mv "$copy/$name" "$baseline" 2>&1) && ! [ -e "$baseline/$name" ] && {
        echo "No baseline of $platform yet: it was made now."
        exit 0
    }
    rm -rf "${baseline:?}/$name"
    [ -e "$baseline" ] || { printf '%s\n' "$error" >&2; exit 1; }
    echo "another run has made the baseline of $platform meanwhile: this one compares with it" >&2
fi

for condition; do
    shift
    set -- "$@" --fail-if "$condition"
done
"$meter" gate "$@" "$baseline"
