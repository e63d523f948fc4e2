#!/usr/bin/env bash
# Disturbs probes repeatedly: by signals, by killing or suspending a worker, by a full disk, by busy CPUs. After each probe, checks that
# no process, no temporary file and no incomplete report is left. Then kills each command that writes files at random moments, and checks
# after each kill that all files are whole, that the next run succeeds, and that no temporary file is left after it.
#
#   tests/soak.sh [PROBES [PROGRAM [SEED [MOMENTS [WRITER...]]]]]
#
# Defaults: 200 PROBES, PROGRAM target/release/timermeter, 200 MOMENTS for each command, all WRITERs: output, save, baseline, watch.
# The script prints a table of disturbances and exit statuses and a table of killed commands, and exits with 1 if a check failed.
# The full disk is a small tmpfs, which needs root; without root it is left out.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

probes=${1:-200}
program=$(realpath "${2:-target/release/timermeter}")
RANDOM=${3:-1}
moments=${4:-200}
writers=(output save baseline watch)
[ $# -lt 5 ] || writers=("${@:5}")
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
    echo "run $1 ($2): $3" >&2
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
        "$program" probe --from reports/icpe2011-mbp53/2011-03-14/report.json -o "$out/page.html" >/dev/null
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

# The second part: a command runs in the folder $work, a copy of $place/KIND, which holds the files of an earlier run. The reports change from
# reports.0 for that run to reports.1 for the run that is killed; the next run has these or reports.2. $place/KIND.1 and $place/KIND.2 are what
# runs make that are not killed.
work=$place/work

# Replaces this process by the command of a kind.
write_files() {
    cd "$work" || exit
    case $1 in
    output) set -- probe --quick --output report.json --trace run.trace monotonic ;;
    save) set -- probe --quick --save=saved monotonic ;;
    baseline) set -- probe --quick --baseline kept monotonic ;;
    watch) set -- watch 0.3s --pause 1ms --save=watch.log ;;
    esac
    TIMERMETER_HOME=$work/home exec "$program" "$@" --quiet >/dev/null 2>"$place/errors"
}

# Waits until the command $2 of the kind $1 has ended or has written the beginning of its last file.
until_it_writes() {
    local files file
    case $1 in
    save) files='saved/.timermeter-*.tmp/README.md' ;;
    baseline) files='home/baselines/.timermeter-*.tmp/content' ;;
    *) files='.timermeter-*.tmp/content' ;;
    esac
    while kill -0 "$2" 2>/dev/null; do
        for file in "$work"/$files; do
            [ -s "$file" ] && return
        done
    done
}

# Whether a file of the kind $1 that differs from the earlier one is complete.
is_whole() {
    local file=$work/$2
    case $1/$2 in
    *.json) "$program" table "$file" >/dev/null 2>&1 ;;
    *.trace) "$program" probe --from "$file" >/dev/null 2>&1 ;;
    *.md) [ "$(tail -c 1 "$file" | wc -l)" = 1 ] ;;
    # The earlier lines stay.
    watch/*) head -c "$(wc -c <"$place/watch/$2")" "$file" | cmp -s - "$place/watch/$2" ;;
    *) cmp -s "$file" "$place/$1.1/$2" ;;
    esac
}

# Runs the command of the kind $1 to its end, as the run $2 of its kind.
run_to_end() {
    (write_files "$1")
    local status=$?
    [ "$status" = 0 ] || echo "run $2 ended with status $status: $(head -c 300 "$place/errors")"
}

# Prints what is wrong in $work after the command of the kind $1 was killed.
what_is_wrong() {
    local file
    (cd "$place/$1" && find . -type f) | while IFS= read -r file; do
        # The killed run may remove what it would not have made.
        [ -e "$work/$file" ] || ! [ -e "$place/$1.1/$file" ] || echo "lost: $file"
    done
    (cd "$work" && find . -type f ! -path '*/.timermeter-*.tmp*') | while IFS= read -r file; do
        cmp -s "$work/$file" "$place/$1/$file" || is_whole "$1" "$file" || echo "half a file: $file"
    done
    run_to_end "$1" "$2"
    find "$work" -name '.timermeter-*.tmp*' -printf 'left unfinished: %P\n'
    case $1 in
    watch) "$program" watch --from "$work/watch.log" 2>&1 >/dev/null ;;
    *) find "$work" -empty -printf 'empty: %P\n' ;;
    esac
}

printf '\n%-12s %6s %13s %11s\n' writer killed 'ended before' complaints
for kind in "${writers[@]}"; do
    mkdir "$work"
    wrong=$(run_to_end "$kind" 0)
    [ -z "$wrong" ] || complain 0 "$kind" "$wrong"
    cp -a "$work" "$place/$kind"
    # How long a run takes that is not killed, in milliseconds.
    began=$(date +%s%3N)
    run_to_end "$kind" 1
    length=$(($(date +%s%3N) - began + 1))
    cp -a "$work" "$place/$kind.1"
    run_to_end "$kind" 2
    mv "$work" "$place/$kind.2"
    killed=0 before=$bad
    for ((number = 1; number <= moments; number++)); do
        rm -rf "$work" && cp -a "$place/$kind" "$work"
        write_files "$kind" &
        writer=$!
        # Every second run is killed when it writes, because that may be a thousandth of a run. `watch` writes all the time.
        if ((number % 2)) || [ "$kind" = watch ]; then
            wait=$((RANDOM * length / 32768))
            sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
        else
            until_it_writes "$kind" "$writer"
            for ((wait = RANDOM % (1 << RANDOM % 12); wait > 0; wait--)); do :; done
        fi
        kill -s KILL "$writer" 2>/dev/null
        wait "$writer" 2>/dev/null
        [ $? != 137 ] || killed=$((killed + 1))
        wrong=$(what_is_wrong "$kind" $((1 + RANDOM % 2)) | head -n 5)
        [ -z "$wrong" ] || complain "$number" "$kind" "$wrong"
    done
    rm -rf "$work"
    printf '%-12s %6d %13d %11d\n' "$kind" "$killed" "$((moments - killed))" "$((bad - before))"
done
echo "$bad complaints"
[ "$bad" = 0 ]
