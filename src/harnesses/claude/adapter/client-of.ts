import type { AttachedClient, LocalClients } from '../../../bridge/local/clients.ts'
import { within } from '../../../lib/within.ts'

/** Programs of ours in sessions look for a bridge every 6.25 s at the latest. */
const attachMaxMs = 8_000

/** A client by its instance, when it has found this bridge. undefined: it does not come. Never rejects. */
export async function clientOf(
  clients: LocalClients,
  instance: string | undefined,
  signal: AbortSignal,
): Promise<AttachedClient | undefined> {
  const find = () => clients.attached('claude').find((client) => client.instance === instance)
  if (instance === undefined) return undefined
  using either = within(attachMaxMs, signal)
  return await new Promise((resolve) => {
    const settle = () => {
      end()
      resolve(find())
    }
    const look = () => find() && settle()
    const end = clients.onChange('claude', look)
    either.signal.addEventListener('abort', settle, { once: true })
    if (either.signal.aborted) settle()
    else look()
  })
}
