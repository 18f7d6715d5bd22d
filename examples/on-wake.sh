#!/bin/sh
# Started by `rouse listen --exec './examples/on-wake.sh claude -p'` for each wake. It takes each task of the wake, runs the harness
# with the task's text, and completes the task with the output of the harness. It answers mail in the same way. Without a harness it
# counts words. The environment has ROUSE_URL and ROUSE_KEY, with which `rouse` acts as the agent; standard input has the wake with its
# messages and tasks as JSON. After an exit code other than 0 the wake is sent again.
set -eu
rouse=${ROUSE_COMMAND:-$(command -v rouse || echo npx rouse)}
wake=$(cat)

# Prints a part of the JSON in the first argument. Node is available, because `rouse` needs it.
json() {
  printf '%s' "$1" | node -e '
    const all = JSON.parse(require("fs").readFileSync(0, "utf8"))
    const [what, id] = process.argv.slice(1)
    const open = all.tasks.filter(({ state }) => state === "submitted" || state === "working")
    const mail = all.messages?.find((one) => one.messageId === id)
    // Answering answers would never end, and nothing reads an answer to mail of the gateway.
    const isQuestion = ({ taskId, type, from }) => taskId === null && type !== "answer" && from !== "@gateway"
    const print = {
      tasks: () => open.map((one) => `${one.id}:${one.state}`),
      text: () => open.find((one) => one.id === id).history.at(-1).parts.map((part) => part.text ?? ""),
      mail: () => all.messages.filter(isQuestion).map((one) => one.messageId),
      content: () => [mail.subject, mail.body ?? ""],
    }
    console.log(print[what]().join("\n"))' "$2" "${3:-}"
}

# The work: runs the given harness, with the text as its last argument.
answer() {
  text=$1
  shift
  if [ $# -gt 0 ]; then "$@" "$text" </dev/null; else echo "$(printf '%s' "$text" | wc -w | tr -d ' ') words"; fi
}

# Works on each open task of the JSON. A task that is already `working` was left by an earlier run that did not finish.
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

# A digest has only the first twenty tasks and messages: the other tasks are in the list, and other mail stays unread in the inbox.
while [ "$ROUSE_EVENT_TYPE" = wake/digest ]; do
  more=$($rouse task list --role assignee --state submitted --json)
  [ -n "$(json "$more" tasks)" ] || break
  work "$more" "$@"
done
