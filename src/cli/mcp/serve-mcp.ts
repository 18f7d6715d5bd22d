import type { McpServer, ServerCapabilities, Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Fetch } from '../../client/client-fetch.ts'
import { type Credentials, createGatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { EventView } from '../../client/route-types.ts'
import type { ApiAnswer, ApiRequest, CallApi, CallOptions } from '../../fronts/mcp/call-api.ts'
import { createMcpServer } from '../../fronts/mcp/create-mcp-server.ts'
import { messageDeclaresTasks, tasksExtension } from '../../fronts/mcp/followed/declared.ts'
import { resourcesOf } from '../../fronts/mcp/resources/resources-of.ts'
import { channelCapability, channelNotification, hasChannelOf } from '../../harnesses/claude/channel.ts'
import { conversation } from '../../harnesses/conversation.ts'
import type { HarnessProcess } from '../../harnesses/harness-process.ts'
import type { Clock } from '../../lib/clock.ts'
import { isJsonObject } from '../../lib/json.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import { readVersion } from '../../lib/version.ts'
import { AgentSession } from './agent-session.ts'
import { type ClientInfo, readClientMessage } from './client-message.ts'
import type { Connection } from './connections.ts'
import { EventFeed } from './event-feed.ts'
import { gatherHandshake, handshakeOfClient, handshakeOfServer } from './handshake.ts'
import { createHttpApi, type HttpApi } from './http-api.ts'
import { observedTransport } from './observed-transport.ts'
import { withPatientWaits } from './patient-waits.ts'
import { harnessOfSurface, surfaceOfClient } from './surface-of-client.ts'
import { ToolPresence } from './tool-presence.ts'
import { UnshownMail } from './unshown-mail.ts'

const headerOfSession = 'rouse-session'

export interface McpOptions {
  readonly transport: Transport
  readonly url: string
  readonly project: string | undefined
  readonly credentials: () => Promise<Credentials>
  readonly fetch: Fetch
  readonly env: Io['env']
  readonly process: HarnessProcess
  /** Where the harness works. */
  readonly cwd?: string | undefined
  /** `@donna`, where the profile says it. */
  readonly identity?: string | undefined
  /** True: speak to a channel of Claude Code. Absent: where the client is Claude Code. */
  readonly channel?: boolean | undefined
  /** Ends it. */
  readonly signal?: AbortSignal | undefined
  /** Called when the handshake is over, and when more is known of the connection. */
  readonly onConnection?: (surface: string, connection: Omit<Connection, 'at'>) => void
  readonly warn: (text: string) => void
  readonly debug: (text: string) => void
  readonly beatMs?: number
  /** Of the reports of presence. */
  readonly clock?: Clock
}

/** How many resources one client may subscribe to. */
const subscriptionsMax = 1_000

/**
 * Serves MCP on a transport, of both eras, until the client closes it or the signal aborts. Tools call the gateway; without one they
 * say so, and everything else works. The Rouse session of the harness begins with the first work, and ends here. Source: S2-2, D12.
 */
export async function serveMcp(options: McpOptions): Promise<void> {
  const { url, project, credentials, fetch, env, debug } = options
  let client: ClientInfo | undefined
  let identity = options.identity
  let followsTasks = false
  const servers = new Set<{ readonly mcp: McpServer; readonly hasChannel: boolean }>()
  const subscribed = new Set<string>()
  const api = createHttpApi({ url, project, credentials, fetch })
  const surface = (): string => surfaceOfClient(env, client)
  await using session = new AgentSession({
    ...options,
    api,
    surface,
    // A harness that was started within another one inherits its variables: only its own counts.
    conversation: () => {
      const own = harnessOfSurface(surface())?.variables?.conversation
      return conversation(options.cwd, own && env[own])
    },
  })
  await using unshown = new UnshownMail(api, debug)
  await using feed = new EventFeed({
    connect: async (signal) => {
      const gateway = createGatewayClient({ url, project, credentials, fetch, signal })
      identity ??= (await gateway.call('GET /v1/whoami', { mail: 'none' })).identity
      return gateway
    },
    debug,
    onEvent: (event) => tell(event),
  })
  using presence = new ToolPresence({ api, session, debug, clock: options.clock })
  const call = presence.watch(withPatientWaits(createSessionApi(api, session, unshown)))
  const learn = gatherHandshake((connection) => options.onConnection?.(surface(), connection), debug)
  const closed = new AbortController()
  const transport = observedTransport(options.transport, {
    observe,
    observeSent: (message) => {
      learn(handshakeOfServer(message))
      // Changes after the acknowledgement are notified.
      return isAcknowledgement(message) ? feed.whenOpen() : undefined
    },
    onWritten: (id) => unshown.written(id),
    onClosed: () => closed.abort(),
  })
  const handle = serveStdio(({ era }) => createServer(era), { transport, onerror: (error) => debug(error.message) })
  await untilAborted(AbortSignal.any([closed.signal, ...(options.signal ? [options.signal] : [])]))
  await handle.close()

  function observe(message: unknown): void {
    const seen = readClientMessage(message)
    client = seen.client ?? client
    followsTasks = messageDeclaresTasks(message)
    if (seen.client) learn({ client: [seen.client.name, seen.client.version].join(' ').trim() })
    learn(handshakeOfClient(message))
    for (const uri of seen.subscribes ?? []) if (subscribed.size < subscriptionsMax) subscribed.add(uri)
    for (const uri of seen.unsubscribes ?? []) subscribed.delete(uri)
    if (subscribed.size > 0) feed.open()
    if (!seen.isWork) return
    // A call waits for the session itself. Presence begins with any work.
    session
      .ensure()
      .then(({ id }) => learn(id === undefined ? {} : { sessionId: id }))
      .catch((error: Error) => debug(error.message))
    for (const { hasChannel } of servers) if (hasChannel) feed.open()
  }

  function createServer(era: 'legacy' | 'modern'): McpServer {
    const wantsChannel = options.channel ?? hasChannelOf(client?.name ?? '')
    const hasChannel = wantsChannel && era === 'legacy'
    const channel = hasChannel ? 'declared' : whyNoChannel(wantsChannel)
    if (wantsChannel && !hasChannel) debug(`No channel of Claude Code: ${channel}.`)
    learn({ era: era === 'legacy' ? '2025' : '2026', channel })
    const hasTasks = era === 'modern'
    // The message that the server is made for has been seen.
    const capabilities = capabilitiesOf(hasChannel, hasTasks && followsTasks)
    const mcp = createMcpServer({ call, identity: options.identity, version: readVersion(), capabilities, hasTasks })
    if (era === 'legacy') {
      // The subscription was recorded when the request came in. The answer says that changes are notified from now on.
      mcp.server.setRequestHandler('resources/subscribe', async () => {
        await feed.whenOpen()
        return {}
      })
      mcp.server.setRequestHandler('resources/unsubscribe', () => ({}))
    }
    const server = { mcp, hasChannel }
    servers.add(server)
    mcp.server.onclose = () => void servers.delete(server)
    return mcp
  }

  function tell(event: EventView): void {
    if (event.type === 'master.preempted') session.notePreempted(event.data.sessionId)
    if (session.isPreempted) return
    const failed = (error: Error): void => debug(error.message)
    for (const { mcp, hasChannel } of servers) {
      for (const uri of changedResources(subscribed, event, identity ?? ''))
        mcp.server.sendResourceUpdated({ uri }).catch(failed)
      const pushed = hasChannel ? channelNotification(event, identity) : undefined
      if (pushed) mcp.server.notification({ ...pushed, params: { ...pushed.params } }).catch(failed)
    }
  }
}

function isAcknowledgement(message: unknown): boolean {
  return isJsonObject(message) && message.method === 'notifications/subscriptions/acknowledged'
}

function whyNoChannel(isWanted: boolean): string {
  return isWanted ? 'it is impossible in the era of 2026-07-28' : 'the client is not Claude Code'
}

function capabilitiesOf(hasChannel: boolean, hasTasks: boolean): ServerCapabilities {
  return {
    resources: { subscribe: true },
    ...(hasChannel ? { experimental: channelCapability } : {}),
    ...(hasTasks ? { extensions: { [tasksExtension]: {} } } : {}),
  }
}

/** The subscribed resources that an event has changed. A `silent` event causes no notification. Pure. Source: S1-15. */
export function changedResources(subscribed: ReadonlySet<string>, event: EventView, identity: string): string[] {
  if (event.data.wakePolicy === 'silent') return []
  // On the wire an event names its actor, not the actor's id.
  const about = { ...event, taskId: event.taskId ?? null, actorId: event.actor }
  return resourcesOf(about, { id: identity, identity }).filter((uri) => subscribed.has(uri))
}

/**
 * Calls the API in a session: it starts with the first call, and again when it has ended meanwhile. The refusal of a session is the
 * answer of the call: nothing is done for an agent that another process speaks for. Mail in an answer can be returned. Source: D12.
 */
function createSessionApi(api: HttpApi, session: AgentSession, unshown: UnshownMail): CallApi {
  const callOnce = async (request: ApiRequest, { signal, mcp }: CallOptions) => {
    const { id, refusal } = await session.ensure()
    if (refusal) return { answer: refusal, mayRepeat: false }
    if (id === undefined) return { answer: await api(request, signal), mayRepeat: false }
    const answer = await api({ ...request, headers: { ...request.headers, [headerOfSession]: id } }, signal)
    const returnMail = unshown.note(mcp?.id, id, answer.body.pendingSignals)
    const mayRepeat = isAboutSession(request, answer) && session.note(id, answer)
    return { answer: returnMail ? { ...answer, returnMail } : answer, mayRepeat }
  }
  return async (request, options = {}) => {
    const { signal, mcp } = options
    signal?.throwIfAborted()
    // Codex names its thread in each call of a tool, and nowhere else.
    const threadId = mcp?.meta?.threadId
    if (typeof threadId === 'string') session.bind(threadId)
    const { answer, mayRepeat } = await callOnce(request, options)
    // The gateway refused before it did anything.
    return mayRepeat ? (await callOnce(request, options)).answer : answer
  }
}

/** A tool may ask for a session by its id: a refusal of that is the tool's. */
function isAboutSession({ path }: ApiRequest, { body }: ApiAnswer): boolean {
  return body.code === 'session-ended' || !path.startsWith('/v1/sessions/')
}
