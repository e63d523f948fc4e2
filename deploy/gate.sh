#!/bin/sh
# A gate for CI: probes this machine, compares it with the baseline of machines like it, and ends with the status of the comparison.
#
#   gate.sh FOLDER [CONDITION…]
#
# FOLDER is what the CI keeps from run to run. FOLDER/<platform>/ is the baseline of one CPU, hypervisor and system, made by the first run
# on such a machine; remove it to accept what changed. CONDITION is one of `compare --fail-if` (cost>5%, trust<0 and lost>0 where none is
# given).
#
# Ends with 0: no condition holds, or the baseline was made just now; 3: one holds; 4: it could not be told; else as `probe` does.
# Standard output is the comparison as Markdown, or a line about the new baseline.
#
# TIMERMETER: the program (timermeter). PROBE: arguments of `probe`, which hold no blanks (--quick). RUNS: how many runs a side is made of
# (5): what they differ by is measured, so that smaller changes are found.
set -u
if [ -z "${1:-}" ]; then
    echo "usage: gate.sh FOLDER [CONDITION...]" >&2
    exit 2
fi
# A path is none of the options of whom it is handed to.
case $1 in /*) folder=$1 ;; *) folder=./$1 ;; esac
shift
meter=${TIMERMETER:-timermeter} runs=${RUNS:-5}
[ $# -gt 0 ] || set -- 'cost>5%' 'trust<0' 'lost>0'

new=$(mktemp -d) || exit 1
trap 'rm -rf "$new"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

while [ "$runs" -gt 0 ]; do
    # shellcheck disable=SC2086 # words
    "$meter" probe --quiet --save="$new" ${PROBE---quick} >/dev/null || exit
    runs=$((runs - 1))
done
for now in "$new"/*/; do
    now=${now%/} platform=$(basename "$now")
done
baseline=$folder/$platform

if ! [ -e "$baseline" ]; then
    # Whole or not at all.
    if mkdir -p "$folder" && cp -R "$now" "$folder/.new.$$" && mv "$folder/.new.$$" "$baseline"; then
        echo "No baseline of $platform yet: it was made now."
        exit 0
    fi
    rm -rf "$folder/.new.$$"
    exit 1
fi

for condition; do
    shift
    set -- "$@" --fail-if "$condition"
done
"$meter" compare --same-cpu --format markdown "$@" "$baseline" -- "$now"
