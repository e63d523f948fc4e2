#!/bin/sh
# Probes one node, and stores its report and status in a separate folder below RUN. The launchers run this script on each node.
#
#   node.sh RUN NODE [ARGUMENT OF PROBE…]
#
# The report contains the name NODE, without USER@. RUN/NODE/<platform>/<date>/ holds the report. RUN/NODE/status holds one line: state,
# node, host, begin, end (seconds since 1970), exit status, message. If the folder NODE exists (two nodes with the same name, or a second
# attempt), the script uses NODE.2, NODE.3 and so on. RUN/nodes is the list of the launcher, so a node `nodes` uses RUN/node.nodes. The
# script also prints the line, because the shared disk may be full. It exits with 0 even if the probe fails, because launchers would stop
# the other nodes; status.sh reports failures. On TERM, INT or HUP it stops its probe before it exits.
#
# TIMERMETER: the program (default: timermeter). LIMIT: timeout of the probe in seconds (default: 900).
# REMOTE: a command that reaches the node, such as `ssh node7`; it is split at blanks. The probe then runs on the node, as one command line
# for the shell of the node, and only this script writes files. REMOTE_HOST: the host, passed to REMOTE as one word after `--`.
set -u
[ $# -ge 2 ] || { echo "usage: node.sh RUN NODE [ARGUMENT OF PROBE…]" >&2; exit 2; }

# Reduces output of a node to printable ASCII without tabs, because it must not control the terminal on which it is printed.
plain() {
    LC_ALL=C sed 's/µ/u/g; s/±/+-/g; s/…/.../g; s/–/-/g; s/−/-/g' | tr '\t' ' ' | LC_ALL=C tr -c '\12\40-\176' '?'
}

# Quotes words for a shell.
quoted() {
    for word; do
        word=$(printf '%s.' "$word" | sed "s/'/'\\\\''/g")
        printf "'%s' " "${word%.}"
    done
}

# The prefix keeps a path that begins with a hyphen from being parsed as an option.
case $1 in /*) run=$1 ;; *) run=./$1 ;; esac
host=$2
node=$(printf %s "$2" | LC_ALL=C tr -c 'A-Za-z0-9._-' _)
shift 2
case $node in '' | .*) node=node$node ;; nodes) node=node.nodes ;; esac
# The name of the machine in reports. It stays the same if the folder is called NODE.2.
name_in_report=$(printf %s "${host##*@}" | LC_ALL=C tr -c 'A-Za-z0-9._-' _)
began=$(date +%s) host=$(uname -n | plain) state=running code=- message=- folder='' over=''

write_status() {
    line=$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s' "$state" "$node" "$host" "$began" "${1:--}" "$code" "$message")
    # Replace the file by renaming: if the disk is full, the previous line stays.
    if [ -n "$folder" ] && ! { printf '%s\n' "$line" >"$folder/.status" && mv "$folder/.status" "$folder/status"; } 2>/dev/null; then
        rm -f "$folder/.status"
    fi
}

end() {
    write_status "$(date +%s)"
    printf '%s\n' "$line"
    exit 0
}

# shellcheck disable=SC2317
stop() {
    trap '' TERM INT HUP
    # timeout forwards the signal to the probe, which stops its children. timeout may not know a probe that it has just forked, so signal the
    # process group if it exists. Repeat the signal, because one that arrives between the fork of the shell and the exec of timeout is lost.
    # Use $!, because the signal may arrive before the line after the fork runs.
    if [ -z "$over" ] && [ -n "${!:-}" ]; then
        probe=$!
        while kill -- "-$probe" 2>/dev/null || kill "$probe" 2>/dev/null; do sleep 0.2; done >/dev/null &
        wait "$probe"
        # The loop ignores TERM, because it inherits the ignored signals of this shell.
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
# Set the trap before the status is `running`: a signal without the trap would leave that status behind.
trap stop TERM INT HUP
write_status
errors=$(mktemp) || errors=/dev/null

# Run the probe in the background, so the trap runs immediately, and without a subshell, which would not forward the signal.
if [ -n "${REMOTE:-}" ]; then
    command=$(quoted "${TIMERMETER:-timermeter}" probe --quiet --format json --node "${name_in_report:-$node}" "$@")
    set -f
    # shellcheck disable=SC2086
    set -- $REMOTE ${REMOTE_HOST:+-- "$REMOTE_HOST"} "$command"
    set +f
    # A truncated report is never named report.json.
    timeout -k 5 "${LIMIT:-900}" "$@" >"$folder/.report" 2>"$errors" </dev/null &
else
    timeout -k 5 "${LIMIT:-900}" "${TIMERMETER:-timermeter}" probe --quiet --save="$folder" --node "${name_in_report:-$node}" "$@" >/dev/null 2>"$errors" </dev/null &
fi
wait "$!"
code=$? over=yes
message=$(tail -n 1 "$errors" | plain | cut -c 1-300)
# Exit status 3: the probe completed, but a timer that was selected by name could not be characterised.
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
