#!/bin/sh
# What each node runs: probes it, and keeps report and outcome in a folder of its own below RUN.
#
#   node.sh RUN NODE [ARGUMENT OF PROBE…]
#
# The report says that it is of NODE (without USER@). RUN/NODE/status holds a line: state, node, host, begin, end (s since 1970), exit status, message. RUN/NODE/<platform>/<date>/ holds
# the report. Where NODE is taken (two nodes of one name, or a second try) it becomes NODE.2 and so on. The line is printed as well, in
# case the shared disk is full. It ends with 0 even where the probe failed: launchers would stop the other nodes. status.sh tells. Told to
# stop (TERM, INT, HUP) it ends its probe first.
#
# TIMERMETER: the program (timermeter). LIMIT: seconds that a probe may take (900).
# REMOTE: how to reach the node, in words that hold no blanks, as in `ssh node7`; then the probe runs there, as one command line that the
# shell of the node reads, and nothing but this script writes files. REMOTE_HOST: the node itself, as one word whatever it holds, which
# then stands behind REMOTE and `--`.
set -u
[ $# -ge 2 ] || { echo "usage: node.sh RUN NODE [ARGUMENT OF PROBE…]" >&2; exit 2; }

# Plain ASCII without tabs: what a node says does not steer the terminal of who reads it.
plain() {
    LC_ALL=C sed 's/µ/u/g; s/±/+-/g; s/…/.../g; s/–/-/g; s/−/-/g' | tr '\t' ' ' | LC_ALL=C tr -c '\12\40-\176' '?'
}

# Words that a shell reads as what they are.
quoted() {
    for word; do
        word=$(printf '%s.' "$word" | sed "s/'/'\\\\''/g")
        printf "'%s' " "${word%.}"
    done
}

# A path is none of the options of whom it is handed to.
case $1 in /*) run=$1 ;; *) run=./$1 ;; esac
host=$2
node=$(printf %s "$2" | LC_ALL=C tr -c 'A-Za-z0-9._-' _)
shift 2
case $node in '' | .*) node=node$node ;; esac
# Whatever becomes of the folder's name, tables and comparisons know the machine by this one.
called=$(printf %s "${host##*@}" | LC_ALL=C tr -c 'A-Za-z0-9._-' _)
began=$(date +%s) host=$(uname -n | plain) state=running code=- message=- folder='' over=''

tell() {
    line=$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s' "$state" "$node" "$host" "$began" "${1:--}" "$code" "$message")
    # Whole or not at all: where the disk is full, the older line stays.
    if [ -n "$folder" ] && ! { printf '%s\n' "$line" >"$folder/.status" && mv "$folder/.status" "$folder/status"; } 2>/dev/null; then
        rm -f "$folder/.status"
    fi
}

end() {
    tell "$(date +%s)"
    printf '%s\n' "$line"
    exit 0
}

# shellcheck disable=SC2317
stop() {
    trap '' TERM INT HUP
    # timeout hands the signal on to the probe, which ends all that it started; a probe that it has just begun it may not know yet, so its whole
    # group is told, where it has made one. Told until it is heard: what comes between the fork of the shell and timeout itself is lost. Asked of
    # the shell itself, as the signal may come before the next line is reached.
    if [ -z "$over" ] && [ -n "${!:-}" ]; then
        probe=$!
        while kill -- "-$probe" 2>/dev/null || kill "$probe" 2>/dev/null; do sleep 0.2; done >/dev/null &
        wait "$probe"
        # It ignores the signals that this shell ignores.
        kill -9 "$!" 2>/dev/null
    fi
    rm -f "$folder/.report"
    [ "$errors" = /dev/null ] || rm -f "$errors"
    state=cancelled
    end
}

mkdir -p "$run" 2>/dev/null
number=1 name=$node
while ! message=$(mkdir "$run/$name" 2>&1); do
    if [ ! -d "$run/$name" ] || [ "$number" -ge 1000 ]; then
        state=failed code=1 message=$(printf %s "$message" | plain | tr '\n' ' ')
        end
    fi
    number=$((number + 1)) name=$node.$number
done
node=$name folder=$run/$name message=- errors=/dev/null
# Before it says that it runs, which would stay.
trap stop TERM INT HUP
tell
errors=$(mktemp) || errors=/dev/null

# In the background, so that a signal is seen at once; and no shell between, which would keep it to itself.
if [ -n "${REMOTE:-}" ]; then
    command=$(quoted "${TIMERMETER:-timermeter}" probe --quiet --format json --node "${called:-$node}" "$@")
    set -f
    # shellcheck disable=SC2086
    set -- $REMOTE ${REMOTE_HOST:+-- "$REMOTE_HOST"} "$command"
    set +f
    # What is cut off is never called report.json.
    timeout -k 5 "${LIMIT:-900}" "$@" >"$folder/.report" 2>"$errors" </dev/null &
else
    timeout -k 5 "${LIMIT:-900}" "${TIMERMETER:-timermeter}" probe --quiet --save="$folder" --node "${called:-$node}" "$@" >/dev/null 2>"$errors" </dev/null &
fi
wait "$!"
code=$? over=yes
message=$(tail -n 1 "$errors" | plain | cut -c 1-300)
# 3: done, but a timer that was asked for by name could not be characterised.
case $code in 0 | 3) state='done' ;; *) state=failed ;; esac
if [ "$state" = "done" ] && [ -n "${REMOTE:-}" ]; then
    if head -c 4096 "$folder/.report" | grep -q '"schema": *"timermeter\.report\.v2"'; then
        mv "$folder/.report" "$folder/report.json" || state=failed
    else
        state=failed message="what came back is no report"
    fi
fi
[ "$errors" = /dev/null ] || rm -f "$errors"
rm -f "$folder/.report"
[ "$code" = 255 ] && [ -n "${REMOTE:-}" ] && : "${message:=the connection was lost}"
[ "$code" = 124 ] && message="it took longer than ${LIMIT:-900} s"
: "${message:=-}"
end
