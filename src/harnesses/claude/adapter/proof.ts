import type { LocalClients, LocalReport } from '../../../bridge/local/clients.ts'
import { sleep, systemClock } from '../../../lib/clock.ts'
import { within } from '../../../lib/within.ts'
import type { ClaudeSession } from './registry.ts'
import { traceIn } from './transcript.ts'

/** The proof for a wake that was handed over. `delivered`: it was put into a turn that ran. */
export interface Proof {
  readonly step: 'turn_started' | 'delivered'
  readonly detail: string
}

interface ProofSearch {
  readonly clients: LocalClients
  readonly session: ClaudeSession
  readonly wakeId: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** A transcript is written after the hook has run: it is for sessions without our hooks. */
const lookEveryMs = 1_000

/** Waits until a hook or the transcript shows the wake. undefined: nothing does in time, or the signal has aborted. Never rejects. */
export async function proofOf({
  clients,
  session,
  wakeId,
  signal,
  timeoutMs,
}: ProofSearch): Promise<Proof | undefined> {
  const done = new AbortController()
  using either = within(timeoutMs, signal, done.signal)
  const reported = clients.reported(wakeId, isProof, either.signal).then((report) => report && ofReport(report))
  const traced = inTranscript(session, wakeId, either.signal)
  const first = await Promise.race([reported, traced])
  done.abort()
  // The loser may have found it at the same instant.
  return first ?? (await reported) ?? (await traced)
}

const isProof = ({ step }: LocalReport) => step === 'turn_started' || step === 'delivered'

function ofReport({ step, proof, turnId }: LocalReport): Proof {
  const turn = turnId === undefined ? '' : ` of turn ${turnId}`
  return step === 'turn_started'
    ? { step, detail: `the hook ${proof}${turn}` }
    : { step: 'delivered', detail: `the hook ${proof}: it joined the turn that ran` }
}

async function inTranscript(session: ClaudeSession, wakeId: string, signal: AbortSignal): Promise<Proof | undefined> {
  while (!signal.aborted) {
    await sleep(systemClock, lookEveryMs, signal)
    const traced = await traceIn(session, wakeId)
    if (traced === 'began') return { step: 'turn_started', detail: 'the transcript' }
    if (traced === 'joined') return { step: 'delivered', detail: 'the transcript: it joined the turn that ran' }
  }
  return undefined
}
