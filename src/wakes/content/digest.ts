import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import { messageIdOf, traceparentOf } from '../rules/match.ts'
import { type DigestKind, digestKindOf, digestKinds } from './digest-kinds.ts'
import { wakePayload } from './payload.ts'

/** A digest lists at most this many events, and has `refsTruncated` when there are more. */
const refsMax = 100

const kindNames = Object.keys(digestKinds) as DigestKind[]

/** The parts of a digest beside its events. */
interface DigestOf {
  readonly agentIdentity: string
  readonly subscriptionId: string
  readonly emittedAt: number
  /** Default: the last event. */
  readonly toLogId?: number
  readonly reason?: 'waiting' | undefined
}

/** Summarises a range of events without keeping it: counts, the newest event of each kind, the first references. Add in log order. */
export class DigestBuilder {
  readonly #isWithoutSubjects: boolean
  #count = 0
  #first: LogEvent | undefined
  #last: LogEvent | undefined
  #traceparent: string | undefined
  readonly #refs: JsonObject[] = []
  readonly #messageIds: string[] = []
  readonly #kinds = new Map<DigestKind, { count: number; latest: JsonObject }>()

  constructor(isWithoutSubjects = false) {
    this.#isWithoutSubjects = isWithoutSubjects
  }

  add(event: LogEvent): void {
    const { eventType, payload } = wakePayload(event, this.#isWithoutSubjects)
    const traceparent = traceparentOf(event)
    if (this.#count === 0) this.#traceparent = traceparent
    else if (this.#traceparent !== traceparent) this.#traceparent = undefined
    this.#count++
    this.#first ??= event
    this.#last = event
    if (event.trigger) {
      const kind = digestKindOf(event)
      const count = (this.#kinds.get(kind)?.count ?? 0) + 1
      this.#kinds.set(kind, { count, latest: { ...payload, ...(kind === 'SIGNAL' ? { signal: event.type } : {}) } })
    }
    const messageId = messageIdOf(event)
    if (messageId !== undefined) this.#messageIds.push(messageId)
    if (this.#refs.length < refsMax) this.#refs.push(reference(event, eventType, payload))
  }

  get count(): number {
    return this.#count
  }

  /** The mail that its events are about, all of it: the references may end before. */
  get messageIds(): readonly string[] {
    return this.#messageIds
  }

  /** The trace that all of its events are part of; undefined: they have several, or none. */
  get traceparent(): string | undefined {
    return this.#traceparent
  }

  get first(): LogEvent | undefined {
    return this.#first
  }

  get last(): LogEvent | undefined {
    return this.#last
  }

  /**
   * Returns the payload of `wake/digest`: the text of S1-40 as `summary`, its numbers as fields. `toLogId`: where the receiver is after
   * it. `reason`: `waiting` where it is about what waited for its reader. Throws when nothing was added. Source: S1-40, D29.
   */
  payload(digest: DigestOf): JsonObject {
    const first = this.#first
    const last = this.#last
    if (!first || !last) throw new Error('A digest needs at least one event.')
    return {
      summary: this.#summary(digest, first.createdAt),
      eventCount: this.#count,
      ...(digest.reason === undefined ? {} : { reason: digest.reason }),
      ...this.#numbers(),
      fromLogId: first.logId,
      toLogId: digest.toLogId ?? last.logId,
      windowStart: new Date(first.createdAt).toISOString(),
      refs: this.#refs,
      ...(this.#count > this.#refs.length ? { refsTruncated: true } : {}),
    }
  }

  /** The counts of the kinds that every digest has, then their newest events, then both of each other kind that occurs. */
  #numbers(): JsonObject {
    const always = kindNames.filter((name) => digestKinds[name].isAlwaysThere)
    const others = kindNames.filter((name) => !digestKinds[name].isAlwaysThere && this.#kinds.has(name))
    const fields: JsonObject = {}
    for (const name of always) fields[digestKinds[name].count] = this.#kinds.get(name)?.count ?? 0
    for (const name of always) fields[digestKinds[name].latest] = this.#kinds.get(name)?.latest ?? null
    for (const name of others) {
      const { count, latest } = this.#kinds.get(name)!
      fields[digestKinds[name].count] = count
      fields[digestKinds[name].latest] = latest
    }
    return fields
  }

  #summary(digest: DigestOf, windowStart: number): string {
    const parts: string[] = []
    const lines: string[] = []
    for (const name of kindNames) {
      const found = this.#kinds.get(name)
      if (!found) continue
      const { many, describe } = digestKinds[name]
      const part = `${found.count} ${many}`
      parts.push(part)
      lines.push(`- ${part} (latest: ${describe(found.latest)})`)
    }
    return [
      `[WAKE] ${this.#count} events for ${digest.agentIdentity}: ${parts.join(', ')}`,
      ...lines,
      `Subscription: ${digest.subscriptionId}`,
      `Window: ${(digest.emittedAt - windowStart) / 1000}s`,
    ].join('\n')
  }
}

function reference(event: LogEvent, eventType: string, payload: JsonObject): JsonObject {
  const { messageId, taskId } = payload
  return {
    logId: event.logId,
    eventType,
    ...(messageId === undefined ? {} : { messageId }),
    ...(taskId === undefined ? {} : { taskId }),
  }
}
