import type { Command } from 'commander'

/** Sentences for clients of the REST API, and what somebody at a terminal does instead. In this order. */
const problemSentences: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^Send the header `Authorization: Bearer rk_…`.*/, 'The gateway needs a key.'],
  [
    /If it is private, send a key of its project: Authorization: Bearer rk_…/,
    'If it is private, use a key of its project.',
  ],
  [
    /or ask for one: POST \/v1\/agents\/\{handle\}\/keys\./,
    'or make one: rouse agent key add <handle> --scope <list>.',
  ],
  [/`GET \/v1\/tasks`/g, '`rouse task list`'],
  [/List your tasks to find it\./, '`rouse task list` lists your tasks.'],
  [/`GET \/v1\/events`/g, '`rouse tail --follow`'],
  [/GET \/v1\/sessions lists/, '`rouse session list` lists'],
  [/GET …\/deliveries lists/, '`rouse sub deliveries` lists'],
  [/List them: GET \/v1\/operator-keys\./, 'List them: rouse operator key list.'],
  [/POST \/v1\/sessions(?: \{"surface": "…"\})?\./, 'rouse session start.'],
  [/DELETE \/v1\/agents\/(\S+)\?freeNames=true\./, 'rouse agent rm $1 --free-names.'],
  [/PATCH \/v1\/projects\/\{project\}\./, 'rouse project limits <project> --set <name=number>.'],
  [/the header Rouse-Project/g, '--project'],
  [
    /[Ss]end the `nextPageToken` of the previous page(?:, unchanged)?/,
    'Give the token at the end of the previous page',
  ],
  [/Send the threadId of a message\./, '`rouse inbox` lists your messages.'],
  [/Send with returnImmediately: true/, 'Send without --wait'],
  [/Send a new message with contextId \S+ and referenceTaskIds \[[^\]]*\]\./, 'Send a new message without --task.'],
  [/Continue in a new task that names this one in referenceTaskIds;/, 'Continue in a new task;'],
  [/, in the body or as If-Match: "<version>"/, ''],
  [/\brotateSigningKey: true\b/g, '--rotate-key'],
  [/\b([Ll])eave the field out\b/g, '$1eave it out'],
  [/\bToo big: expected string to have <=(\d+) characters\b/, 'is too long: at most $1 characters'],
]

/**
 * The fields of the REST API, and the options and arguments of the commands that fill them. Where there are several, a command
 * has one of them.
 */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  agentIdentity: ['--agent'],
  aliases: ['--alias'],
  'artifact.artifactId': ['--id'],
  'artifact.name': ['--name'],
  body: ['<text>'],
  contactPolicy: ['--contact'],
  defaultWakePolicy: ['--default-wake-policy'],
  displayName: ['--name'],
  eventId: ['--event'],
  expectedVersion: ['--version'],
  expiresAt: ['--expires-in'],
  expiresInSeconds: ['--expires-in'],
  failedSince: ['--failed-since'],
  filters: ['--concept'],
  'filters.inReplyToFilter': ['--in-reply-to'],
  'filters.priority': ['--priority'],
  'filters.senderFilter': ['--sender'],
  'filters.taggedConcepts': ['--concept'],
  fromLogId: ['--from'],
  harnessTarget: ['--target'],
  'harnessTargetMetadata.coalesceMode': ['--coalesce-mode'],
  'harnessTargetMetadata.coalesceWindow': ['--window'],
  'harnessTargetMetadata.includeOwn': ['--include-own'],
  'harnessTargetMetadata.maxInFlight': ['--max-in-flight'],
  'harnessTargetMetadata.probe': ['--probe', '--no-probe'],
  'harnessTargetMetadata.retryForSeconds': ['--retry-for'],
  'harnessTargetMetadata.url': ['--target-url'],
  'Idempotency-Key': ['--idempotency-key'],
  inReplyTo: ['<message>'],
  message: ['--message', '<text>'],
  'message.taskId': ['--task'],
  'metadata.taggedConcepts': ['--concept'],
  overlapSeconds: ['--overlap'],
  pageToken: ['--page-token'],
  projects: ['--for'],
  rotateSigningKey: ['--rotate-key'],
  'Rouse-Project': ['--project'],
  scopes: ['--scope'],
  sessionId: ['--session'],
  signalType: ['--signal-type'],
  sinceLogId: ['--since'],
  skills: ['--skill'],
  startFrom: ['--start-from'],
  taggedConcept: ['--concept'],
  taggedConcepts: ['--concept'],
  taskId: ['--task'],
  to: ['<to>', '<state>'],
  toLogId: ['--to'],
}

/** The option or argument of a command that fills a field of the REST API: `--agent` for `agentIdentity`. Pure. */
export function wordFor(field: string, command: Command | undefined): string | undefined {
  // `skills[0].id` is part of what --skill gives.
  const path = field.replace(/\[\d+\].*$/, '')
  const named = optionsOf[field] ?? optionsOf[path] ?? [`--${path}`, `<${path}>`]
  return named.find((word) => has(command, word))
}

/** A sentence of the gateway in the words of the command that was given: options and commands in place of JSON fields. Pure. */
export function inWordsOf(command: Command | undefined, detail: string, field?: string): string {
  let text = detail
  const word = field === undefined ? undefined : wordFor(field, command)
  if (field !== undefined && word !== undefined && text.startsWith(`${field}:`)) text = word + text.slice(field.length)
  for (const [pattern, instead] of problemSentences) text = text.replace(pattern, instead)
  return text.replace(fieldName, (name) => wordFor(name, command) ?? name)
}

// Only names that no sentence has by chance: with a capital letter, a dot or a hyphen inside.
const distinct = Object.keys(optionsOf).filter((name) => /[a-z](?:[A-Z]|[.-]\w)/.test(name))
const fieldName = new RegExp(
  `(?<![\\w./-])(?:${distinct
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replaceAll('.', '\\.'))
    .join('|')})(?![\\w/.-]\\w)`,
  'g',
)

function has(command: Command | undefined, word: string): boolean {
  if (!command) return false
  if (word.startsWith('<')) return command.registeredArguments.some((argument) => `<${argument.name()}>` === word)
  return command.options.some((option) => option.long === word)
}
