#!/bin/sh
# The last step of action.yml: compares this runner with its stored baseline by deploy/gate.sh, and writes a summary of the job.
#
# TIMERMETER: the program. BASELINES: the folder of the baselines. FAIL_IF: conditions, one per line. UNDECIDED: `fail` if an undecided
# condition fails the job. GITHUB_OUTPUT: a file, to which the script appends `status` and `result`. GITHUB_STEP_SUMMARY: a file, to which
# the script appends Markdown. PROBE and RUNS: see deploy/gate.sh.
#
# Exit status: that of deploy/gate.sh, except that 4 becomes 0 unless UNDECIDED is `fail`.
set -u
set -- "${BASELINES:-timermeter-baselines}"
while read -r condition; do
    [ -z "$condition" ] || set -- "$@" "$condition"
done <<CONDITIONS
${FAIL_IF:-}
CONDITIONS

errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
result=$("$(dirname "$0")/../gate.sh" "$@" 2>"$errors")
status=$?
cat "$errors" >&2
# A failure has all messages as its result, because the last line of wrong usage does not name the cause. The result is one line.
result=$(printf %s "${result:-$(cat "$errors")}" | tr -s '\r\n' ' ')
kind='' heading=passed
case $status in
0) ;;
3) kind=error heading=failed ;;
4) kind=warning heading=undecided ;;
*) kind=error heading="not measured" ;;
esac

printf 'status=%s\nresult=%s\n' "$status" "$result" >>"$GITHUB_OUTPUT"
# Indent lines of output, because Markdown does not interpret indented lines.
{
    printf '## Clocks of this runner: %s\n\n' "$heading"
    printf '%s\n' "$result" | awk '{ gsub(/; /, "\n"); print }' | sed 's/^/    /'
    printf '\nWhich clock to use here:\n\n'
    "${TIMERMETER:-timermeter}" 2>/dev/null | sed 's/^/    /'
} >>"$GITHUB_STEP_SUMMARY"
printf '%s\n' "$result"
[ -z "$kind" ] || printf '::%s title=clocks %s::%s\n' "$kind" "$heading" "$result" | sed 's/%/%25/g'

[ "$status" = 4 ] && [ "${UNDECIDED:-pass}" != fail ] && status=0
exit "$status"
