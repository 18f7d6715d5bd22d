import { type Clock, sleep } from '../lib/clock.ts'
import type { WakeStep } from '../wakes/rules/wake-history.ts'
import { higherStep, meaningOf } from '../words/receipts.ts'
import type { Hear, WakeStream } from './wake-stream.ts'

/** Collects what the reader of a stream reports about a test wake. */
export interface TestListener {
  readonly hear: Hear
  /** The strongest step; undefined: none. */
  readonly strongest: WakeStep | undefined
  /** Resolves when nothing more is to be expected. */
  readonly isEnough: Promise<'heard'>
}

/** How long a test waits for its reader: a reader of a session may have to wait for a turn. Shorter than the time-outs of proxies. */
const waitMs = { session: 50_000, other: 10_000 } as const
/** How long after `delivered` a reader that speaks into a session may report that a turn began. */
const afterDeliveredMs = 10_000

const speaksIntoSession = ({ capabilities }: WakeStream): boolean =>
  capabilities.some((word) => word === 'append-only' || word === 'turn/start' || word === 'turn/steer')

/** Returns how long a test on a stream waits at most, in ms. */
export function testWaitMs(stream: WakeStream): number {
  return speaksIntoSession(stream) ? waitMs.session : waitMs.other
}

/** Listens to what the reader of a stream reports about a test wake, until the signal aborts. */
export function hearTest(clock: Clock, stream: WakeStream, signal: AbortSignal): TestListener {
  let strongest: WakeStep | undefined
  let enough: (heard: 'heard') => void = () => {}
  const isEnough = new Promise<'heard'>((resolve) => {
    enough = resolve
  })
  return {
    isEnough,
    get strongest() {
      return strongest
    },
    hear(said, outcome) {
      if (strongest === undefined || higherStep(strongest.step, said.step) === said.step) strongest = said
      if (outcome === 'pending') return
      if (said.step !== 'delivered' || !speaksIntoSession(stream)) return enough('heard')
      void sleep(clock, afterDeliveredMs, signal).then(() => enough('heard'))
    },
  }
}

/** Returns what went wrong with a test wake, in a word; null: nothing. Pure. */
export function testError(end: 'heard' | 'timeout' | 'closed', strongest: WakeStep | undefined): string | null {
  if (strongest === undefined || end === 'closed') return end === 'heard' ? null : end
  const { step } = strongest
  switch (meaningOf(step)) {
    case 'delivered':
      return null
    case 'open':
      // `written` is enough where nothing more will be known.
      return end === 'heard' ? null : step === 'held' ? 'held' : 'timeout'
    case 'failed':
    case 'unfit':
      return step
  }
}
