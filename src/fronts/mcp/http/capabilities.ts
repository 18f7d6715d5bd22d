import type { ServerCapabilities } from '@modelcontextprotocol/server'
import type { InitializeParams } from '../../../mcp-sessions/mcp-session.ts'
import { wakeEventTypes } from '../../../wakes/content/payload.ts'

/** The name under which wakes over a session are negotiated. Source: S1-28. */
export const wakeSubstrate = 'neo-wake-substrate'
/** The same as an extension, in both eras of the protocol. */
const wakeExtension = 'dev.rouse/wake'

const offered = { version: '1.0', supportedEvents: [...wakeEventTypes] }

/** Whether a client has requested wakes as notifications. Pure. Source: S1-28. */
export function wantsWakes({ capabilities }: InitializeParams): boolean {
  const { experimental, extensions } = capabilities
  return isDeclared(experimental?.[wakeSubstrate]) || isDeclared(extensions?.[wakeExtension])
}

function isDeclared(setting: unknown): boolean {
  return typeof setting === 'object' && setting !== null
}

/** Returns what a session offers beside tools, resources and prompts. Wakes are confirmed to clients that requested them. Pure. */
export function sessionCapabilities(initialize: InitializeParams): ServerCapabilities {
  const wakes = wantsWakes(initialize)
  return {
    logging: {},
    resources: { subscribe: true },
    extensions: { [wakeExtension]: { ...offered, delivery: 'notifications/message' } },
    ...(wakes ? { experimental: { [wakeSubstrate]: offered } } : {}),
  }
}

/** The same for protocol versions without sessions: wakes are changes of the inbox there. */
export const listenCapabilities: ServerCapabilities = {
  resources: { subscribe: true },
  extensions: { [wakeExtension]: { ...offered, delivery: 'notifications/resources/updated' } },
}
