import type { GatewayClient } from '../../client/gateway-client.ts'
import type { KnownSession } from '../target/same-conversation.ts'

const timeoutMs = 10_000
const noneMsMax = 30_000

/** The live session of an agent. */
export interface LiveSession extends KnownSession {
  readonly id: string
  /** True when its harness has done something since it began. */
  readonly hasActed: boolean
}

/** The live session of an agent, as its gateway knows it. */
export class OwnSession {
  readonly #gateway: GatewayClient
  readonly #now: () => number
  #last: { readonly session: LiveSession | undefined; readonly at: number } | undefined

  constructor(gateway: GatewayClient, now: () => number) {
    this.#gateway = gateway
    this.#now = now
  }

  /** The session as the gateway knows it now; undefined: there is none. Errors: `Refused`, `Unreachable`. */
  async read(signal: AbortSignal): Promise<LiveSession | undefined> {
    const { sessions } = await this.#gateway.call('GET /v1/sessions', {
      query: { status: 'live' },
      mail: 'none',
      signal,
      timeoutMs,
    })
    const [found] = sessions
    const session = found && {
      id: found.sessionId,
      hasActed: typeof found.actedAt === 'string',
      surface: found.surface,
      pid: found.pid,
      startedAt: found.startedAt,
      cwd: found.harness?.cwd,
      conversationId: found.harness?.sessionId,
    }
    this.#last = { session, at: this.#now() }
    return session
  }

  /** The same, not older than that; the last one known where the gateway does not answer. */
  async recent(ageMsMax: number, signal: AbortSignal): Promise<LiveSession | undefined> {
    const ageMs = this.#last === undefined ? Number.POSITIVE_INFINITY : this.#now() - this.#last.at
    // A session that starts is to be found soon.
    const max = this.#last?.session === undefined ? Math.min(ageMsMax, noneMsMax) : ageMsMax
    if (ageMs >= 0 && ageMs <= max) return this.#last?.session
    return this.read(signal).catch(() => this.#last?.session)
  }

  /** The next one who asks reads it again. */
  forget(): void {
    this.#last = undefined
  }
}
