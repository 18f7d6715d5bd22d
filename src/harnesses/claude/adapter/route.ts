import type { AttachedClient, ReportedConversation } from '../../../bridge/local/clients.ts'
import type { ClaudeSession } from './registry.ts'

/** The way that a wake would take into a session now. */
export type Route =
  | { readonly kind: 'monitor' | 'rewake'; readonly client: AttachedClient }
  | { readonly kind: 'inbox'; readonly path: string }
  /** `remark`: why there is none, and what mends it. */
  | { readonly kind: 'none'; readonly remark: string }

/** The name of a way in the record of a wake: `monitor#6f0c…`. The client that got the wake is found by it. Pure. */
export function recordedWay(route: Exclude<Route, { kind: 'none' }>): string {
  const instance = route.kind === 'inbox' ? undefined : route.client.instance
  return instance === undefined ? route.kind : `${route.kind}#${instance}`
}

/** The client in that name. Pure. */
export const instanceIn = (way: string): string | undefined => /#([0-9a-f]{16})$/.exec(way)?.[1]

export interface RouteFacts {
  readonly session: ClaudeSession
  /** Programs of ours in sessions of Claude Code, the newest first. */
  readonly clients: readonly AttachedClient[]
  /** The last report of the hooks of this conversation. */
  readonly reported: ReportedConversation | undefined
  /** True when the user has allowed the inbox socket. */
  readonly isInboxAllowed: boolean
}

/** The modes in which Claude Code delivers from its inbox. In other modes it holds a wake, and drops it silently after five minutes. */
const deliveringModes = ['default', 'auto', 'acceptEdits', 'plan']
/** The only version of the inbox whose lines were tried. */
const inboxProtocol = 1

/**
 * Chooses the best way into a session: a monitor, which lives as long as the session; otherwise a waiting hook of the same conversation;
 * otherwise the inbox, if its user has allowed it. Pure.
 */
export function chooseRoute({ session, clients, reported, isInboxAllowed }: RouteFacts): Route {
  const own = clients.filter((client) => client.process?.pid === session.pid)
  // A monitor lives through /clear, and then speaks to the new conversation; its own environment has the old id.
  const monitor = own.find(({ route }) => route === 'monitor')
  if (monitor) return { kind: 'monitor', client: monitor }
  const waiter = own.find(({ route, conversationId }) => route === 'rewake' && conversationId === session.sessionId)
  if (waiter) return { kind: 'rewake', client: waiter }
  if (!isInboxAllowed) return { kind: 'none', remark: noClient }
  const { inboxPath, version = 'unknown' } = session
  if (inboxPath === undefined) return { kind: 'none', remark: `Version ${version} has no inbox. ${noClient}` }
  if (session.inboxProtocol !== inboxProtocol)
    return { kind: 'none', remark: `The inbox of version ${version} is not one that this bridge knows. ${noClient}` }
  const mode = reported?.permissionMode
  if (mode !== undefined && deliveringModes.includes(mode)) return { kind: 'inbox', path: inboxPath }
  const why = mode === undefined ? 'its hooks have not said its permission mode yet' : `its permission mode is ${mode}`
  return { kind: 'none', remark: `Its inbox is not used: ${why}. ${noClient}` }
}

const noClient = 'Nothing of Rouse listens in this session: rouse install claude --bridge, and start a new session.'
