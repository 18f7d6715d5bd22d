import type { ServerCapabilities } from '@modelcontextprotocol/server'
import type { InitializeParams } from '../../../mcp-sessions/mcp-session.ts'
import { wakeEventTypes } from '../../../wakes/content/payload.ts'
import { tasksExtension } from '../followed/declared.ts'

/** The name under which wakes over a session are negotiated. Source: S1-28. */
export const wakeSubstrate = 'neo-wake-substrate'
/** The same as an extension, in both eras of the protocol. */
const wakeExtension = 'dev.rouse/wake'

const offered = { version: '1.0', supportedEvents: [...wakeEventTypes] }

/**
 * Returns the events whose wakes a client takes as notifications: of those that it names as `supportedEvents` the ones that there are, all of
 * them if it names none. Nothing is agreed in another `version`. Pure. Source: S1-28.
 */
export function agreedWakes({ capabilities }: InitializeParams): ReadonlySet<string> {
  const { experimental, extensions } = capabilities
  const declared = experimental?.[wakeSubstrate] ?? extensions?.[wakeExtension]
  if (typeof declared !== 'object' || declared === null) return new Set()
  const { version, supportedEvents = wakeEventTypes } = declared as { version?: unknown; supportedEvents?: unknown }
  if (typeof version !== 'string' || !/^1(\.|$)/.test(version) || !Array.isArray(supportedEvents)) return new Set()
  return new Set(wakeEventTypes.filter((type) => supportedEvents.includes(type)))
}

/** Returns what a session offers beside tools, resources and prompts. What was agreed of wakes is confirmed. Pure. */
export function sessionCapabilities(initialize: InitializeParams): ServerCapabilities {
  const supportedEvents = [...agreedWakes(initialize)]
  return {
    logging: {},
    resources: { subscribe: true },
    extensions: { [wakeExtension]: { ...offered, delivery: 'notifications/message' } },
    ...(supportedEvents.length > 0 ? { experimental: { [wakeSubstrate]: { ...offered, supportedEvents } } } : {}),
  }
}

/** The same for protocol versions without sessions: wakes are changes of the inbox there. */
export const listenCapabilities: ServerCapabilities = {
  resources: { subscribe: true },
  extensions: { [wakeExtension]: { ...offered, delivery: 'notifications/resources/updated' } },
}

/** The same with MCP Events, declared twice: clients of the draft read the one, those of the final text the other. Source: D42. */
export function withEvents(capabilities: ServerCapabilities): ServerCapabilities {
  const extensions = { ...capabilities.extensions, 'io.modelcontextprotocol/events': {} }
  return { ...capabilities, extensions, events: {} } as ServerCapabilities
}

/** The same with MCP tasks: for clients that say that they follow them. */
export function withTasks(capabilities: ServerCapabilities): ServerCapabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, [tasksExtension]: {} } }
}
