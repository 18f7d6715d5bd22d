import { Problem } from '../errors.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import type { Attempt, SignedWake, TestOrder } from '../wakes/channel.ts'
import type { TestListener } from './hear-test.ts'
import type { WakeStreams } from './streams.ts'
import type { Receipt, WakeStream } from './wake-stream.ts'

interface Try {
  readonly clock: Clock
  readonly streams: WakeStreams
  readonly sign: () => SignedWake
  /** The refusal where no stream is connected. */
  readonly notConnected: { readonly detail: string; readonly remedy?: 'connect-reader' }
  /** How long it waits at most, in ms. */
  readonly waitMs: (stream: WakeStream) => number
  /** Listens to the steps that the reader reports, until the signal aborts. Absent: its reader reports none. */
  readonly listen?: (stream: WakeStream, signal: AbortSignal) => TestListener
}

/** How the wait for a test wake ended, and what was reported. */
interface TriedWake {
  readonly startedAt: number
  readonly end: 'written' | 'heard' | 'timeout' | 'closed'
  readonly heard: TestListener | undefined
  readonly waitedMaxMs: number
}

/** Writes a test wake to the stream of its subscription, once. Errors: `invalid-request` without a stream. */
export async function tryWake(
  { subscription, emission: { eventId }, signal }: Pick<TestOrder, 'subscription' | 'emission' | 'signal'>,
  { clock, streams, sign, notConnected, waitMs, listen }: Try,
): Promise<TriedWake> {
  const stream = streams.of(subscription.id)
  if (!stream) throw new Problem('invalid-request', { field: 'harnessTarget', ...notConnected })
  const startedAt = clock.now()
  const waitedMaxMs = waitMs(stream)
  const ended = new AbortController()
  const ending = AbortSignal.any([signal, ended.signal])
  const heard = listen?.(stream, ending)
  const timeout = sleep(clock, waitedMaxMs, ending).then(() => 'timeout' as const)
  const sent = stream.send(eventId, sign, heard?.hear).then(endOf)
  const end = await Promise.race([sent, timeout, ...(heard ? [heard.isEnough] : [])])
  ended.abort()
  stream.forget(eventId)
  return { startedAt, end, heard, waitedMaxMs }
}

const endOf = (receipt: Receipt | 'closed'): 'written' | 'closed' => (receipt === 'closed' ? 'closed' : 'written')

/** An attempt that began then and is over now. It has no HTTP status. */
export function attemptSince(clock: Clock, startedAt: number, error: string | null): Attempt {
  const durationMs = Math.max(0, clock.now() - startedAt)
  return { at: new Date(startedAt).toISOString(), status: null, durationMs, error }
}
