import { Problem } from '../errors.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import type { Attempt, SignedWake, TestOrder } from '../wakes/channel.ts'
import type { WakeStreams } from './streams.ts'
import type { Receipt } from './wake-stream.ts'

/** How long a test waits for what its reader reports. */
const testWaitMs = 10_000

interface Try {
  readonly clock: Clock
  readonly streams: WakeStreams
  readonly sign: () => SignedWake
  /** What to do where no stream is connected. */
  readonly remedy: string
  /** What went wrong, in a word, by the receipt; null: nothing. */
  readonly errorOf: (receipt: Receipt) => string | null
}

/** Writes a test wake to the stream of its subscription, once. Errors: `invalid-request` without a stream. */
export async function tryWake(
  { subscription, emission: { eventId }, signal }: Pick<TestOrder, 'subscription' | 'emission' | 'signal'>,
  { clock, streams, sign, remedy, errorOf }: Try,
): Promise<Attempt> {
  const stream = streams.of(subscription.id)
  if (!stream) throw new Problem('invalid-request', { field: 'harnessTarget', detail: `harnessTarget: ${remedy}` })
  const startedAt = clock.now()
  const answered = new AbortController()
  const timeout = sleep(clock, testWaitMs, AbortSignal.any([signal, answered.signal])).then(() => 'timeout' as const)
  const receipt = await Promise.race([stream.send(eventId, sign), timeout])
  answered.abort()
  stream.forget(eventId)
  return attemptSince(clock, startedAt, typeof receipt === 'string' ? receipt : errorOf(receipt))
}

/** An attempt that began then and is over now. It has no HTTP status. */
export function attemptSince(clock: Clock, startedAt: number, error: string | null): Attempt {
  const durationMs = Math.max(0, clock.now() - startedAt)
  return { at: new Date(startedAt).toISOString(), status: null, durationMs, error }
}
