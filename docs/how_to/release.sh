#!/usr/bin/env bash
# A gate in a pipeline: a new model replaces the current one only if fresh
# rows do not contradict its promise.
#
#   release.sh NEW CURRENT ROWS [options of pacband check]
#
# Exit code 0: released. 1: the rows contradict the promise. 2: bad input, or
# rows that cannot test the promise. Any other code: pacband check did not
# run to its end.
set -u
if [ $# -lt 3 ]; then
    echo "usage: release.sh NEW CURRENT ROWS [options]" >&2
    exit 2
fi
new=$1 current=$2 rows=$3
shift 3

pacband check "$new" "$rows" "$@"
status=$?
case $status in
    0) mv -- "$new" "$current" || exit 2
       echo "Released: $current" ;;
    1) echo "Not released: $rows contradicts the promise." >&2 ;;
    2) echo "Not released: bad input, or rows that cannot test the promise;" \
            "see above." >&2 ;;
    *) echo "Not released: pacband check ended with $status." >&2 ;;
esac
exit "$status"
