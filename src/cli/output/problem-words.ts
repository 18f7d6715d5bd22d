import type { Command } from 'commander'
import { detailFor } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'

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

/** The detail of a problem in the words of the command that was given: options and commands in place of JSON fields and routes. Pure. */
export function inWordsOf(command: Command | undefined, problem: JsonObject): string {
  const text = detailFor(problem, ({ cli }) => cli)
  const { field } = problem
  const word = typeof field === 'string' && text.startsWith(`${field}:`) ? wordFor(field, command) : undefined
  const named = word === undefined ? text : word + text.slice(String(field).length)
  return named.replace(fieldName, (text, name) => wordFor(name, command) ?? text)
}

// Only names that no sentence has by chance: with a capital letter, a dot or a hyphen inside. A flag alone says that it is true.
const distinct = Object.keys(optionsOf).filter((name) => /[a-z](?:[A-Z]|[.-]\w)/.test(name))
const fieldName = new RegExp(
  `(?<![\\w./-])(${distinct
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replaceAll('.', '\\.'))
    .join('|')})(?:: true\\b)?(?![\\w/.-]\\w)`,
  'g',
)

function has(command: Command | undefined, word: string): boolean {
  if (!command) return false
  if (word.startsWith('<')) return command.registeredArguments.some((argument) => `<${argument.name()}>` === word)
  return command.options.some((option) => option.long === word)
}
