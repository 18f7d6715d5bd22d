import type { JsonObject } from '../../lib/json.ts'
import { agentTriggers, type LogEvent, type Trigger } from '../../log/event.ts'
import { wakePayload } from './payload.ts'

type Kind = (typeof agentTriggers)[number] | 'SIGNAL'

const kindOf = (trigger: Trigger): Kind => agentTriggers.find((kind) => kind === trigger) ?? 'SIGNAL'

/** A digest lists at most this many events, and says `refsTruncated` when there are more. */
const refsMax = 100

/** Summarises a range of events without keeping it: counts, the newest event of each kind, the first references. Add in log order. */
export class DigestBuilder {
  #count = 0
  #first: LogEvent | undefined
  #last: LogEvent | undefined
  readonly #refs: JsonObject[] = []
  readonly #kinds: Record<Kind, { count: number; latest: JsonObject | undefined }> = {
    SENT_TO_ME: { count: 0, latest: undefined },
    TASK_STATE_CHANGED: { count: 0, latest: undefined },
    PERMISSION_GRANTED: { count: 0, latest: undefined },
    MESSAGE_STATUS_CHANGED: { count: 0, latest: undefined },
    SIGNAL: { count: 0, latest: undefined },
  }

  add(event: LogEvent): void {
    const { eventType, payload } = wakePayload(event)
    this.#count++
    this.#first ??= event
    this.#last = event
    if (event.trigger) {
      const kind = this.#kinds[kindOf(event.trigger)]
      kind.count++
      kind.latest = { ...payload, ...(kindOf(event.trigger) === 'SIGNAL' ? { signal: event.type } : {}) }
    }
    if (this.#refs.length < refsMax) this.#refs.push(reference(event, eventType, payload))
  }

  get count(): number {
    return this.#count
  }

  get first(): LogEvent | undefined {
    return this.#first
  }

  get last(): LogEvent | undefined {
    return this.#last
  }

  /** Returns the payload of `wake/digest`: the text of S1-40 as `summary`, its numbers as fields. Throws when nothing was added. */
  payload(digest: { agentIdentity: string; subscriptionId: string; emittedAt: number }): JsonObject {
    const first = this.#first
    const last = this.#last
    if (!first || !last) throw new Error('A digest needs at least one event.')
    const { SENT_TO_ME: messages, TASK_STATE_CHANGED: transitions, PERMISSION_GRANTED: permissions } = this.#kinds
    const { MESSAGE_STATUS_CHANGED: statuses, SIGNAL: signals } = this.#kinds
    return {
      summary: this.#summary(digest, first.createdAt),
      eventCount: this.#count,
      newMessages: messages.count,
      taskTransitions: transitions.count,
      permissionsGranted: permissions.count,
      latestMessage: messages.latest ?? null,
      latestTaskTransition: transitions.latest ?? null,
      latestPermission: permissions.latest ?? null,
      ...(statuses.latest ? { messageStatuses: statuses.count, latestMessageStatus: statuses.latest } : {}),
      ...(signals.latest ? { signals: signals.count, latestSignal: signals.latest } : {}),
      fromLogId: first.logId,
      toLogId: last.logId,
      windowStart: new Date(first.createdAt).toISOString(),
      refs: this.#refs,
      ...(this.#count > this.#refs.length ? { refsTruncated: true } : {}),
    }
  }

  #summary(digest: { agentIdentity: string; subscriptionId: string; emittedAt: number }, windowStart: number): string {
    const parts: string[] = []
    const lines: string[] = []
    const { SENT_TO_ME: messages, TASK_STATE_CHANGED: transitions, PERMISSION_GRANTED: permissions } = this.#kinds
    if (messages.latest) {
      parts.push(plural(messages.count, 'new message', 'new messages'))
      lines.push(`- ${parts.at(-1)} (latest: "${messages.latest.subject}" from ${messages.latest.from})`)
    }
    if (transitions.latest) {
      const { previousState, newState, taskId } = transitions.latest
      parts.push(plural(transitions.count, 'task transition', 'task transitions'))
      lines.push(`- ${parts.at(-1)} (latest: ${previousState ?? 'none'} → ${newState} on task ${taskId})`)
    }
    if (permissions.latest) {
      parts.push(plural(permissions.count, 'permission granted', 'permissions granted'))
      lines.push(`- ${parts.at(-1)} (latest: ${permissions.latest.scope} by ${permissions.latest.grantedBy})`)
    }
    const { MESSAGE_STATUS_CHANGED: statuses, SIGNAL: signals } = this.#kinds
    if (statuses.latest) {
      const { subject, status, recipient } = statuses.latest
      parts.push(plural(statuses.count, 'message status', 'message statuses'))
      lines.push(`- ${parts.at(-1)} (latest: "${subject}" ${status} by ${recipient})`)
    }
    if (signals.latest) {
      const { signal, subscriptionId, agent } = signals.latest
      parts.push(plural(signals.count, 'signal', 'signals'))
      lines.push(`- ${parts.at(-1)} (latest: ${signal} on ${subscriptionId} of ${agent})`)
    }
    return [
      `[WAKE] ${plural(this.#count, 'event', 'events')} for ${digest.agentIdentity}: ${parts.join(', ')}`,
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

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
