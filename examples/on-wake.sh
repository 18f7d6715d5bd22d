#!/bin/sh
# Started by `rouse listen --exec ./examples/on-wake.sh` for each wake. Takes the task, does the work and completes it.
# The environment has ROUSE_TEXT, ROUSE_FROM, ROUSE_TASK_ID, ROUSE_MESSAGE_ID, ROUSE_URL and ROUSE_KEY; standard input has the wake
# with its messages and tasks as JSON. An exit code other than 0 has the wake sent again.
set -eu
rouse=${ROUSE_COMMAND:-npx rouse}

# Mail without a task is answered, and a wake without either is acknowledged.
if [ -z "${ROUSE_TASK_ID:-}" ]; then
  [ -z "${ROUSE_MESSAGE_ID:-}" ] || $rouse reply "$ROUSE_MESSAGE_ID" "Received: $ROUSE_SUBJECT"
  exit 0
fi

# A task that somebody has finished meanwhile is not worked on again.
state=$($rouse task show "$ROUSE_TASK_ID" --json | sed -n 's/^  "state": "\(.*\)",$/\1/p')
case "$state" in submitted | working) ;; *) exit 0 ;; esac
[ "$state" = working ] || $rouse task move "$ROUSE_TASK_ID" working

words=$(printf '%s' "$ROUSE_TEXT" | wc -w | tr -d ' ')
$rouse task move "$ROUSE_TASK_ID" completed --artifact-text "$words words"
