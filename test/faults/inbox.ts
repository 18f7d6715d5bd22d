import type { ServerResponse } from 'node:http'
import type { ReceivedWake } from '../support/receiver.ts'

/** The part of a wake that a receiver stores for the account. */
export interface Arrival {
  readonly eventId: string
  readonly logId: number
  readonly prevLogId: number | null
  /** The first event that it covers: its own logId unless it is a digest. */
  readonly fromLogId: number
  readonly eventCount: number
  readonly refs: readonly number[] | undefined
  /** The time from the commit of the newest event to its arrival, if the wake has it. */
  readonly latencyMs: number | undefined
}

/** The content of an A2A push notification about a task. */
export interface PushArrival {
  readonly eventId: string
  readonly taskId: string
  readonly state: string
}

/** Everything that came, over all receivers and across their restarts, by subscription. */
export class Inbox {
  readonly #arrivals = new Map<string, Arrival[]>()
  readonly pushes: PushArrival[] = []
  requestCount = 0
  onWake: (wake: ReceivedWake) => void = () => {}

  /** Keeps a wake before it is answered: a request that is cut off counts as arrived, and its repetition must say so. */
  readonly take = (wake: ReceivedWake): void => {
    this.requestCount++
    const id = wake.headers['x-neo-wake-subscription-id']
    if (typeof id !== 'string') return void this.pushes.push(toPush(wake))
    const arrivals = this.#arrivals.get(id) ?? []
    this.#arrivals.set(id, arrivals)
    arrivals.push(toArrival(wake))
    this.onWake(wake)
  }

  of(subscriptionId: string): readonly Arrival[] {
    return this.#arrivals.get(subscriptionId) ?? []
  }

  /** Takes every wake, and answers 200 after what the function says. */
  answering(delayMs: () => number = () => 0) {
    return (wake: ReceivedWake, res: ServerResponse): void => {
      this.take(wake)
      const wait = delayMs()
      if (wait > 0) setTimeout(() => res.end(), wait)
      else res.end()
    }
  }
}

function toArrival({ body, at }: ReceivedWake): Arrival {
  const { eventId, logId, prevLogId, payload } = body
  const isDigest = body.eventType === 'wake/digest'
  return {
    eventId,
    logId,
    prevLogId,
    fromLogId: isDigest ? payload.fromLogId : logId,
    eventCount: isDigest ? payload.eventCount : 1,
    refs: isDigest ? payload.refs.map((ref: { logId: number }) => ref.logId) : undefined,
    latencyMs: payload.lastModifiedAt === undefined ? undefined : at - Date.parse(payload.lastModifiedAt),
  }
}

function toPush({ headers, body }: ReceivedWake): PushArrival {
  const { task, statusUpdate } = body
  return {
    eventId: String(headers['webhook-id']),
    taskId: task?.id ?? statusUpdate.taskId,
    state: (task ?? statusUpdate).status.state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-'),
  }
}
