import { Problem } from '../errors.ts'
import { cutText } from '../lib/cut-text.ts'
import { newUuid } from '../lib/ids.ts'
import { readIsoTime } from '../lib/iso-time.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { cutLine, firstLine, oneLine } from '../lib/words.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { type Priority, priorities, type WakePolicy, wakePolicies } from '../words/policies.ts'
import { readBoundedConcepts } from './bounded-message.ts'
import type { A2aMessage, Task } from './task.ts'

const subjectMax = 200

/** A message as it is stored. The gateway sets the ids of task and context, whatever the sender wrote there. */
// Its own ids come last, and a spread before them would be slow: docs/adr/0039.
export function stampMessage(message: A2aMessage, task: Pick<Task, 'id' | 'contextId'>): A2aMessage {
  return Object.assign({}, message, { taskId: task.id, contextId: task.contextId })
}

/** A status message of the assignee, made from parts alone or from a whole message. */
export function agentMessage(message: JsonObject, task: Pick<Task, 'id' | 'contextId'>): A2aMessage {
  const messageId = typeof message.messageId === 'string' && message.messageId ? message.messageId : newUuid()
  return stampMessage({ ...message, messageId, role: 'ROLE_AGENT', parts: message.parts as JsonObject[] }, task)
}

/** The first line of the first text, at most 200 characters. Source: D9, S1-24. */
export function subjectOf(message: A2aMessage): string {
  for (const part of message.parts) {
    if (typeof part.text !== 'string') continue
    const line = firstLine(part.text)
    if (line) return cutLine(line, subjectMax)
  }
  const file = message.parts.find((part) => typeof part.filename === 'string' && part.filename)
  return (file && cutLine(oneLine(String(file.filename)), subjectMax)) || '(no text)'
}

/** Options of a send, which a sender gives as A2A metadata of the message or of the request. */
export interface SendOptions {
  priority: Priority
  /** undefined: each party's own default decides. Source: D20. */
  wakePolicy: WakePolicy | undefined
  taggedConcepts: string[]
  expiresAt: number | null
}

/**
 * Reads `priority`, `wakePolicy`, `taggedConcepts` and `expiresAt` from A2A metadata. Other software may use the same names in
 * metadata, so values of another shape are ignored. An unreadable `expiresAt` is refused, because its loss would not be noticed,
 * and so are more concepts than mail may have. Errors: `invalid-request`, `payload-too-large`.
 */
export function readSendOptions(...metadata: readonly unknown[]): SendOptions {
  const given: JsonObject = Object.assign({}, ...metadata.filter(isJsonObject))
  const { priority, wakePolicy, taggedConcepts, expiresAt } = given
  return {
    priority: priorities.find((known) => known === priority) ?? 'normal',
    wakePolicy: readWakePolicy({ wakePolicy }),
    taggedConcepts: readBoundedConcepts(taggedConcepts),
    expiresAt: readInstant(expiresAt),
  }
}

/** Reads `wakePolicy` from A2A metadata; values of another shape are ignored. */
export function readWakePolicy(metadata: unknown): WakePolicy | undefined {
  const given = isJsonObject(metadata) ? metadata.wakePolicy : undefined
  return wakePolicies.find((known) => known === given)
}

function readInstant(value: unknown): number | null {
  if (value === undefined || value === null) return null
  const instant = typeof value === 'string' ? readIsoTime(value) : undefined
  if (instant === undefined) {
    throw new Problem('invalid-request', {
      field: 'metadata.expiresAt',
      detail: 'metadata.expiresAt: send an instant in ISO 8601, e.g. "2026-04-26T10:00:00.000Z".',
    })
  }
  return instant
}

/** Refuses media types that the agent's card does not list (specification §3.1.1). Errors: `unsupported-media-type`. */
export function requireAcceptedModes(agent: Agent, message: A2aMessage): void {
  // Each mode is checked once: a message may have many parts, and an agent many modes.
  const known = new Set<string | undefined>([undefined])
  for (let index = 0; index < message.parts.length; index++) {
    const mode = modeOf(message.parts[index]!)
    if (known.has(mode)) continue
    if (agent.inputModes.some((accepted) => modeMatches(accepted, mode!))) {
      known.add(mode)
      continue
    }
    throw new Problem('unsupported-media-type', {
      field: `message.parts[${index}].mediaType`,
      detail: `message.parts[${index}].mediaType: ${agent.handle} accepts ${cutText(agent.inputModes.join(', '), 1_000)}, not ${cutText(mode!, 200)}.`,
    })
  }
}

function modeOf(part: JsonObject): string | undefined {
  if (typeof part.mediaType === 'string' && part.mediaType) return part.mediaType.split(';', 1)[0]!.trim().toLowerCase()
  if (part.text !== undefined) return 'text/plain'
  if (part.data !== undefined) return 'application/json'
  return undefined
}

function modeMatches(accepted: string, mode: string): boolean {
  const [type, subtype] = accepted.toLowerCase().split('/')
  if (type === '*' && subtype === '*') return true
  return subtype === '*' ? mode.startsWith(`${type}/`) : accepted.toLowerCase() === mode
}
