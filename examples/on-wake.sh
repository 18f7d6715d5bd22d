#!/bin/sh
# Started by `rouse listen --exec './examples/on-wake.sh claude -p'` for each wake: takes each task of it, runs the harness with the
# task's text, and completes the task with what the harness printed. Mail is answered. Without a harness it counts words.
# The environment has ROUSE_URL and ROUSE_KEY, with which `rouse` speaks for the agent; standard input has the wake with its messages
# and tasks as JSON. An exit code other than 0 has the wake sent again.
set -eu
rouse=${ROUSE_COMMAND:-$(command -v rouse || echo npx rouse)}
wake=$(cat)

# Prints something of the JSON that is the first argument: `rouse` needs Node, so it is here too.
json() {
  printf '%s' "$1" | node -e '
    const all = JSON.parse(require("fs").readFileSync(0, "utf8"))
    const [what, id] = process.argv.slice(1)
    const open = all.tasks.filter(({ state }) => state === "submitted" || state === "working")
    const mail = all.messages?.find((one) => one.messageId === id)
    // An answer to an answer would go on for ever, and nobody reads what the gateway is answered.
    const isQuestion = ({ taskId, type, from }) => taskId === null && type !== "answer" && from !== "@gateway"
    const print = {
      tasks: () => open.map((one) => `${one.id}:${one.state}`),
      text: () => open.find((one) => one.id === id).history.at(-1).parts.map((part) => part.text ?? ""),
      mail: () => all.messages.filter(isQuestion).map((one) => one.messageId),
      content: () => [mail.subject, mail.body ?? ""],
    }
    console.log(print[what]().join("\n"))' "$2" "${3:-}"
}

# The work: the harness that was named, which gets the text as its last argument.
answer() {
  text=$1
  shift
  if [ $# -gt 0 ]; then "$@" "$text" </dev/null; else echo "$(printf '%s' "$text" | wc -w | tr -d ' ') words"; fi
}

# Works on each open task of the JSON. One that is `working` was left by a run that did not end.
work() {
  found=$1
  shift
  for task in $(json "$found" tasks); do
    id=${task%:*}
    [ "${task#*:}" = working ] || $rouse task move "$id" working
    result=$(answer "$(json "$found" text "$id")" "$@")
    printf '%s' "${result:-Done.}" | $rouse task move "$id" completed --artifact-text -
  done
}

work "$wake" "$@"
for id in $(json "$wake" mail); do
  result=$(answer "$(json "$wake" content "$id")" "$@")
  printf '%s' "${result:-Done.}" | $rouse reply "$id" - --type answer
done

# A digest has the first twenty: the other tasks wait in the list, and other mail stays unread in the inbox.
while [ "$ROUSE_EVENT_TYPE" = wake/digest ]; do
  more=$($rouse task list --role assignee --state submitted --json)
  [ -n "$(json "$more" tasks)" ] || break
  work "$more" "$@"
done
