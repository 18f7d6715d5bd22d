import { Refused, Unreachable } from '../client/failure.ts'
import { bareHandle, createGatewayClient } from '../client/gateway-client.ts'
import type {
  Inbox,
  InboxQuery,
  MadeSubscription,
  Move,
  NewMail,
  NewSubscription,
  SentMail,
  Subscription,
  SubscriptionList,
  TaskList,
  TaskQuery,
  TaskWithArtifacts,
} from './wire.ts'

export interface ClientOptions {
  /** The address of the gateway: `https://rouse.example`. */
  readonly url: string
  /** The key of the agent, or of an operator. */
  readonly key: string
  /** The project in which an operator acts. */
  readonly project?: string
}

/** The acts of an agent over REST. Every call rejects with a `GatewayError`. For A2A use an A2A client. */
export interface Client {
  /** Sends mail. */
  send(mail: NewMail): Promise<SentMail>
  /** Reads mail: unread mail oldest first, all mail newest first. */
  inbox(query?: InboxQuery): Promise<Inbox>
  /** Reports how far one's mail is: `seen`, `acked`, `resolved`. */
  mark(messageId: string, status: 'seen' | 'acked' | 'resolved' | 'superseded'): Promise<void>
  readonly tasks: {
    list(query?: TaskQuery): Promise<TaskList>
    get(id: string): Promise<TaskWithArtifacts>
    /** Moves a task that is at the expected version. */
    move(id: string, move: Move): Promise<TaskWithArtifacts>
  }
  readonly subscriptions: {
    make(subscription: NewSubscription): Promise<MadeSubscription>
    list(query?: { readonly agent?: string; readonly pageToken?: string }): Promise<SubscriptionList>
    get(id: string): Promise<Subscription>
    /** Pauses it, or makes it active again. */
    setStatus(id: string, status: 'active' | 'paused'): Promise<Subscription>
    remove(id: string): Promise<void>
  }
  /** Every other request. Returns the JSON of the answer. */
  request(
    method: string,
    path: string,
    options?: { readonly query?: Readonly<Record<string, string | number | undefined>>; readonly body?: unknown },
  ): Promise<Readonly<Record<string, unknown>>>
}

/** The gateway refused, or nothing answered at its address. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  /** The HTTP status; undefined: nothing answered. */
  readonly status: number | undefined
  /** The code of the problem, e.g. `version-conflict`; `unreachable` when nothing answered. */
  readonly code: string
  /** The whole problem of the answer (RFC 9457). */
  readonly problem: Readonly<Record<string, unknown>>

  constructor(message: string, problem: Readonly<Record<string, unknown>>, cause: unknown) {
    super(message, { cause })
    this.status = typeof problem.status === 'number' ? problem.status : undefined
    this.code = typeof problem.code === 'string' ? problem.code : 'refused'
    this.problem = problem
  }
}

/** A client of the REST API: the one of the command line, with names for what agents do. It follows no redirect and retries nothing. */
export function createClient({ url, key, project }: ClientOptions): Client {
  const gateway = createGatewayClient({ url: url.replace(/\/+$/, ''), credentials: async () => ({ key }), project })
  return {
    send: (mail) => withGatewayErrors(gateway.call('POST /v1/messages', { body: mail })),
    inbox: ({ unread, ...query } = {}) =>
      withGatewayErrors(gateway.call('GET /v1/inbox', { query: { ...query, unread: unread ? 'true' : undefined } })),
    mark: async (id, status) =>
      void (await withGatewayErrors(
        gateway.call('POST /v1/messages/:id/status', { params: { id }, body: { status } }),
      )),
    tasks: {
      list: (query = {}) => withGatewayErrors(gateway.call('GET /v1/tasks', { query: { ...query } })),
      get: (id) => withGatewayErrors(gateway.call('GET /v1/tasks/:id', { params: { id } })),
      move: (id, move) =>
        withGatewayErrors(gateway.call('POST /v1/tasks/:id/transitions', { params: { id }, body: move })),
    },
    subscriptions: {
      make: ({ trigger, agentIdentity, ...harnessTargetMetadata }) => {
        const body = { trigger, agentIdentity, harnessTarget: 'a2a-webhook' as const, harnessTargetMetadata }
        return withGatewayErrors(gateway.call('POST /v1/wake-subscriptions', { body }))
      },
      list: ({ agent, pageToken } = {}) => {
        const query = { agent: agent === undefined ? undefined : bareHandle(agent), pageToken }
        return withGatewayErrors(gateway.call('GET /v1/wake-subscriptions', { query }))
      },
      get: (id) => withGatewayErrors(gateway.call('GET /v1/wake-subscriptions/:id', { params: { id } })),
      setStatus: async (id, status) =>
        (
          await withGatewayErrors(
            gateway.call('PATCH /v1/wake-subscriptions/:id', { params: { id }, body: { status } }),
          )
        ).currentState,
      remove: async (id) =>
        void (await withGatewayErrors(gateway.call('DELETE /v1/wake-subscriptions/:id', { params: { id } }))),
    },
    request: (method, path, options) => withGatewayErrors(gateway.request(method, path, options)),
  }
}

async function withGatewayErrors<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (error instanceof Refused) {
      const { title, detail } = error.problem
      throw new GatewayError(String(detail ?? title ?? error.message), error.problem, error)
    }
    if (error instanceof Unreachable) {
      throw new GatewayError(error.message.split('\n')[0]!, { code: 'unreachable' }, error)
    }
    throw error
  }
}
