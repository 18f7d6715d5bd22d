import { realpathSync } from 'node:fs'
import type { Adapter, AdapterContext, OutgoingWake, WakeTools } from '../../../src/bridge/adapter.ts'
import type { LocalClients } from '../../../src/bridge/local/clients.ts'
import { opencodeRow as row } from '../../../src/harnesses/opencode/adapter/opencode-adapter.ts'
import { newUlid } from '../../../src/lib/ids.ts'

const nobody: LocalClients = {
  attached: () => [],
  reportedConversations: () => [],
  onChange: () => () => {},
  reported: async () => undefined,
}

/** The adapter as the bridge makes it, for one allowed directory. */
export function makeAdapter(directory: string, more: Partial<AdapterContext> = {}): Adapter {
  return row.create({
    env: {},
    settings: {},
    directories: [realpathSync(directory)],
    clients: nobody,
    now: Date.now,
    note: () => {},
    ...more,
  })
}

export function makeWake(text = 'New message'): OutgoingWake {
  const id = newUlid(Date.now())
  return { id, text: `[Rouse ${id}] ${text}`, lines: `[Rouse ${id}]\n${text}` }
}

/** The tools of one wake, and what was done with them. */
export function makeTools(more: Partial<WakeTools> = {}) {
  const stop = new AbortController()
  const done: string[] = []
  const tools: WakeTools = {
    handingOver: async (route) => void done.push(`handing over: ${route}`),
    report: (step) => void done.push(step),
    signal: stop.signal,
    ...more,
  }
  return { tools, done, stop: () => stop.abort(new Error('stopped')) }
}

export const never: AbortSignal = new AbortController().signal
