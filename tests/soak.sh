#!/usr/bin/env bash
# Disturbs probes repeatedly: by signals, by killing or suspending a worker, by a full disk, by busy CPUs. After each probe, checks that
# no process, no temporary file and no incomplete report is left.
#
#   tests/soak.sh [PROBES [PROGRAM [SEED]]]
#
# Defaults: 200 PROBES, PROGRAM target/release/timermeter. The script prints a table of disturbances and exit statuses, and exits with 1
# if a check failed. The full disk is a small tmpfs, which needs root; without root it is left out.
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

# Prints the processes of a probe. All descendants inherit the environment variable, even if they leave the session.
marked() {
    local mark=$1 process
    for process in /proc/[0-9]*; do
        # A process that has ended meanwhile cannot be read and does not count.
        if tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -qx "TIMERMETER_SOAK=$mark"; then
            echo "${process#/proc/}"
        fi
    done
}

# Prints the youngest worker, if one runs; that one measures. It lives for 0.1 s, so this function has to be fast.
worker() {
    local found
    mapfile -t found < <(pgrep -P "$1" -f ' agent ')
    [ "${#found[@]}" = 0 ] || echo "${found[-1]}"
}

declare -A disturbed ended
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
    # In the background, because the script sends signals while the probe runs.
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
    # Processes that are ending have one second.
    for ((look = 0; look < 20; look++)); do
        left=$(marked "$mark")
        [ -z "$left" ] && break
        sleep 0.05
    done
    for process in $busy; do kill "$process" 2>/dev/null; wait "$process" 2>/dev/null; done
    disturbed[$kind]=$((${disturbed[$kind]:-0} + 1))
    ended["$kind $status"]=$((${ended["$kind $status"]:-0} + 1))
    if [ -n "$left" ]; then
        complain "$number" "$kind" "left running: $(for process in $left; do tr '\0' ' ' <"/proc/$process/cmdline"; echo; done 2>/dev/null)"
        kill -s KILL $left 2>/dev/null
    fi
    if [ "$kind" = KILL ]; then
        # A killed probe cannot remove its files; the next run does.
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
    # 128 + the signal: as the shell reports a killed process, or as the program exits after the signal.
    130) [ "$kind" = INT ] || complain "$number" "$kind" "ended with status 130" ;;
    137) [ "$kind" = KILL ] || complain "$number" "$kind" "ended with status 137" ;;
    143) [ "$kind" = TERM ] || complain "$number" "$kind" "ended with status 143" ;;
    *) complain "$number" "$kind" "ended with status $status: $(head -c 300 "$place/errors")" ;;
    esac
    rm -rf "$place"/out/* "$disk"/*
done

printf '%-12s %6s   %s\n' disturbance probes 'ended with status'
for kind in "${!disturbed[@]}"; do
    statuses=
    for key in "${!ended[@]}"; do
        [ "${key% *}" = "$kind" ] && statuses="$statuses ${key##* } (${ended[$key]})"
    done
    printf '%-12s %6d  %s\n' "$kind" "${disturbed[$kind]}" "$statuses"
done | sort
echo "$((probes)) probes, $bad complaints"
[ "$bad" = 0 ]
