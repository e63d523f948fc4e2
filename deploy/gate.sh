#!/bin/sh
# A gate for CI: compares this machine with the baseline of machines of the same kind, by `timermeter gate`, and exits with its status.
#
#   gate.sh FOLDER [CONDITION...]
#
# FOLDER has to persist between runs. FOLDER/<platform>/ is the baseline of one CPU, hypervisor and system. The first run on such a machine
# creates it. If several start at once, one creates it and the others compare with it. Remove it to accept a change, or if it is damaged.
# CONDITION is a condition of `gate --fail-if`, on cost, resolution, trust, source or lost; without one, `gate` judges the first four.
#
# Exit status: 0 if no condition holds or the baseline was created, 3 if a condition holds, 4 if one is undecided, 1 if the baseline cannot
# be read, otherwise that of the command that failed. Standard output is one line, or empty if a command failed.
#
# TIMERMETER: the program (default: timermeter). PROBE: arguments of `probe` for the baseline, separated by blanks (default: --quick).
# RUNS: number of runs of the baseline (default: 5). With several, `gate` knows what runs of this machine differ by.
set -u
if [ -z "${1:-}" ]; then
    echo "usage: gate.sh FOLDER [CONDITION...]" >&2
    exit 2
fi
# The prefix keeps a path that begins with a hyphen from being parsed as an option.
case $1 in /*) folder=$1 ;; *) folder=./$1 ;; esac
shift
meter=${TIMERMETER:-timermeter} runs=${RUNS:-5}

copy='' new=$(mktemp -d) || exit 1
trap 'rm -rf "$new" ${copy:+"$copy"}' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# A short probe of one clock yields the name of the platform. The pattern matches only `monotonic`. The probe fails if a clock that was
# selected by name is unresolved, but not if it was selected by a pattern.
"$meter" probe --quiet --save="$new/name" --quick 'monotoni?' >/dev/null || exit
for platform in "$new"/name/*/; do
    platform=$(basename "$platform")
done
baseline=$folder/$platform

if ! [ -e "$baseline" ]; then
    while [ "$runs" -gt 0 ]; do
        # shellcheck disable=SC2086 # PROBE is a list of words
        "$meter" probe --quiet --save="$new/runs" ${PROBE---quick} >/dev/null || exit
        runs=$((runs - 1))
    done
    # Copy the runs to a temporary name and rename the copy, so the baseline is either complete or absent. If another first run has created
    # the baseline meanwhile, mv fails or moves the copy into it, under a hidden name that `gate` does not read.
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
