import type { AdapterContext, OutgoingWake, WakeTools } from '../../src/bridge/adapter.ts'
import type { AttachedClient, LocalClients, LocalReport, ReportedConversation } from '../../src/bridge/local/clients.ts'
import { outgoingWake } from '../../src/bridge/wake-text.ts'
import type { Wake } from '../../src/client/wakes/wake.ts'

let made = 0

/** A wake as the bridge makes it, with an id of its own. */
export function aWake(payload: Wake['payload'] = {}): OutgoingWake {
  made++
  return outgoingWake({
    eventType: 'wake/sent_to_me',
    eventId: `01HWAKE${String(made).padStart(19, '0')}`,
    agentIdentity: '@donna',
    subscriptionId: 'WAKE_SUB:1',
    payload: { messageId: 'MESSAGE:1', from: '@boss', subject: 'Review PR 7', ...payload },
  })
}

/** The tools of one attempt, and what the adapter has done with them. At the step `until` the bridge stops: no stronger proof will come. */
export function attempt(over: Partial<WakeTools> = {}, until?: string) {
  const stop = new AbortController()
  const steps: string[] = []
  const tools: WakeTools = {
    handingOver: async (route) => void steps.push(`handing over: ${route}`),
    report(step) {
      steps.push(step)
      if (step === until) stop.abort()
    },
    signal: stop.signal,
    ...over,
  }
  return { tools, steps, stop: () => stop.abort(new Error('The bridge stops.')) }
}

/** The local socket of a bridge, without the socket: what attached clients and hooks would say. */
export class FakeClients implements LocalClients {
  readonly clients: AttachedClient[] = []
  readonly conversations: ReportedConversation[] = []
  readonly #reports: LocalReport[] = []
  readonly #waiting = new Set<() => void>()
  readonly #changed = new Set<() => void>()

  report(report: LocalReport): void {
    this.#reports.push(report)
    for (const look of this.#waiting) look()
  }

  change(): void {
    for (const changed of this.#changed) changed()
  }

  reportedConversations(harness: string): ReportedConversation[] {
    return this.conversations.filter((conversation) => conversation.harness === harness)
  }

  attached(harness: string): AttachedClient[] {
    return this.clients.filter((client) => client.harness === harness)
  }

  onChange(_harness: string, changed: () => void): () => void {
    this.#changed.add(changed)
    return () => this.#changed.delete(changed)
  }

  reported(wakeId: string, isEnough: (report: LocalReport) => boolean, signal: AbortSignal) {
    return new Promise<LocalReport | undefined>((resolve) => {
      const end = (report?: LocalReport): void => {
        this.#waiting.delete(look)
        signal.removeEventListener('abort', stop)
        resolve(report)
      }
      const stop = () => end()
      const look = (): void => {
        const found = this.#reports.find((report) => report.wakeId === wakeId && isEnough(report))
        if (found) end(found)
        else if (signal.aborted) end()
      }
      this.#waiting.add(look)
      signal.addEventListener('abort', stop, { once: true })
      look()
    })
  }
}

/** The context of an adapter, with its notes. */
export function contextOf(over: Partial<AdapterContext> = {}) {
  const notes: string[] = []
  const clients = new FakeClients()
  const context: AdapterContext = {
    env: process.env,
    settings: {},
    directories: [],
    clients,
    now: Date.now,
    note: (text) => void notes.push(text),
    ...over,
  }
  return { context, clients, notes }
}
