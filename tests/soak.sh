#!/usr/bin/env bash
# Probes that something befalls, again and again: signals, a worker that is killed or stopped for a while, a full disk, stolen
# time. After each: no process is left, no unfinished file, no half report. Anyone can run it:
#
#   tests/soak.sh [PROBES [PROGRAM [SEED]]]
#
# PROBES are 200 unless told otherwise, PROGRAM is target/release/timermeter. It ends with a table of what befell them and how
# they ended, and with status 1 when one left something. A full disk needs root, for a small tmpfs; without it there is none.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

probes=${1:-200}
program=$(realpath "${2:-target/release/timermeter}")
RANDOM=${3:-1}
timers=(monotonic monotonic-raw realtime boottime rdtsc rdtsc-lfence instant system-time thread-cputime gettimeofday)

[ -x "$program" ] || { echo "there is no $program: build it, or name another" >&2; exit 2; }
place=$(mktemp -d)
disk=$place/disk
mkdir "$place/out" "$disk"
full=yes
mount -t tmpfs -o size=64k tmpfs "$disk" 2>/dev/null || full=
end() {
    [ -z "$full" ] || umount "$disk" 2>/dev/null
    rm -rf "$place"
}
trap end EXIT

# Everything that a probe starts inherits this, whatever it does to get out of sight.
marked() {
    local mark=$1 process
    for process in /proc/[0-9]*; do
        # What ended in the meantime is none.
        if tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -qx "TIMERMETER_SOAK=$mark"; then
            echo "${process#/proc/}"
        fi
    done
}

# The youngest worker that runs now, if one does, which measures. It lives a tenth of a second, so this has to be quick.
worker() {
    local found
    mapfile -t found < <(pgrep -P "$1" -f ' agent ')
    [ "${#found[@]}" = 0 ] || echo "${found[-1]}"
}

declare -A befell ended
bad=0
complain() {
    echo "probe $1 ($2): $3" >&2
    bad=$((bad + 1))
}

for ((number = 1; number <= probes; number++)); do
    kinds=(INT TERM KILL worker-KILL worker-STOP busy none)
    [ -z "$full" ] || kinds+=(full-disk)
    kind=${kinds[RANDOM % ${#kinds[@]}]}
    out=$place/out
    [ "$kind" = full-disk ] && out=$disk
    mark=$$-$number
    busy=
    if [ "$kind" = full-disk ]; then
        head -c 60k /dev/zero >"$disk/filler" 2>/dev/null
    fi
    # In a shell that waits for no process, so that signals come as they do on a terminal.
    TIMERMETER_SOAK=$mark "$program" probe --quick --quiet --timeout 10 --output "$out/report.json" \
        --trace "$out/run.trace" "${timers[@]}" >/dev/null 2>"$place/errors" &
    probe=$!
    # A quick probe of ten timers takes a second or two.
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
    case $kind in
    INT | TERM | KILL) kill -s "$kind" "$probe" 2>/dev/null ;;
    worker-KILL)
        victim=$(worker "$probe")
        [ -z "$victim" ] || kill -s KILL "$victim" 2>/dev/null
        ;;
    worker-STOP)
        victim=$(worker "$probe")
        if [ -n "$victim" ]; then
            kill -s STOP "$victim" 2>/dev/null
            sleep 1
            kill -s CONT "$victim" 2>/dev/null
        fi
        ;;
    busy)
        for ((core = 0; core < $(nproc); core++)); do
            timeout 5 sh -c 'while :; do :; done' &
            busy="$busy $!"
        done
        ;;
    esac
    wait "$probe" 2>/dev/null
    status=$?
    # What is in the way of dying has a second for it.
    for ((look = 0; look < 20; look++)); do
        left=$(marked "$mark")
        [ -z "$left" ] && break
        sleep 0.05
    done
    for process in $busy; do kill "$process" 2>/dev/null; wait "$process" 2>/dev/null; done
    befell[$kind]=$((${befell[$kind]:-0} + 1))
    ended["$kind $status"]=$((${ended["$kind $status"]:-0} + 1))
    if [ -n "$left" ]; then
        complain "$number" "$kind" "left running: $(for process in $left; do tr '\0' ' ' <"/proc/$process/cmdline"; echo; done 2>/dev/null)"
        kill -s KILL $left 2>/dev/null
    fi
    if [ "$kind" = KILL ]; then
        # It could not clean up; the next one does.
        "$program" report reports/icpe2011-mbp53/2011-03-14/report.json -o "$out/page.html" >/dev/null
        rm -f "$out/page.html"
    fi
    rm -f "$disk/filler"
    unfinished=$(find "$out" -name '.timermeter-*' | head -3)
    [ -z "$unfinished" ] || complain "$number" "$kind" "left unfinished: $unfinished"
    if [ -e "$out/report.json" ] && ! "$program" table "$out/report.json" >/dev/null 2>"$place/table"; then
        complain "$number" "$kind" "half a report: $(cat "$place/table")"
    fi
    if grep -q panicked "$place/errors"; then
        complain "$number" "$kind" "$(grep -m1 -A1 panicked "$place/errors")"
    fi
    case $status in
    0 | 1 | 3) ;;
    # As shells report it, by itself or in its place.
    130) [ "$kind" = INT ] || complain "$number" "$kind" "ended with status 130" ;;
    137) [ "$kind" = KILL ] || complain "$number" "$kind" "ended with status 137" ;;
    143) [ "$kind" = TERM ] || complain "$number" "$kind" "ended with status 143" ;;
    *) complain "$number" "$kind" "ended with status $status: $(head -c 300 "$place/errors")" ;;
    esac
    rm -rf "$place"/out/* "$disk"/*
done

printf '%-12s %6s   %s\n' befell probes 'ended with status'
for kind in "${!befell[@]}"; do
    statuses=
    for key in "${!ended[@]}"; do
        [ "${key% *}" = "$kind" ] && statuses="$statuses ${key##* } (${ended[$key]})"
    done
    printf '%-12s %6d  %s\n' "$kind" "${befell[$kind]}" "$statuses"
done | sort
echo "$((probes)) probes, $bad complaints"
[ "$bad" = 0 ]
