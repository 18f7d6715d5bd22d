import type { WakeEnd, WakeTools } from '../../../bridge/adapter.ts'
import type { LocalClients } from '../../../bridge/local/clients.ts'
import { withTimeout } from '../../../client/with-timeout.ts'

/** A hook says at once that its harness has begun. */
const proofMsMax = 5_000

/** Reports that a line was written, and waits a moment for a hook: it proves more than the screen. */
export async function withTurnProof(
  clients: LocalClients,
  wakeId: string,
  end: WakeEnd,
  tools: WakeTools,
): Promise<WakeEnd> {
  if (end.step !== 'written') return end
  tools.report('written', end.detail)
  const limit = {
    signal: tools.signal,
    timeoutMs: proofMsMax,
    expired: () => new Error('No hook has named the wake.'),
  }
  const proof = await withTimeout(limit, (signal) => turnProofOf(clients, wakeId, signal))
  return proof ? { step: 'turn_started', detail: proof } : end
}

/** The hook that has said that the turn of a wake began; undefined when the signal aborts before. */
export async function turnProofOf(
  clients: LocalClients,
  wakeId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const report = await clients.reported(wakeId, ({ step }) => step === 'turn_started', signal)
  return report?.proof
}
