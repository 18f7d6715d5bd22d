import type { ApiRequest, CallApi } from '../../fronts/mcp/call-api.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { isJsonObject } from '../../lib/json.ts'
import { within } from '../../lib/within.ts'
import type { PresenceState } from '../../words/presence.ts'
import type { AgentSession } from './agent-session.ts'
import type { HttpApi } from './http-api.ts'

interface Parts {
  readonly api: HttpApi
  readonly session: Pick<AgentSession, 'ensure'>
  readonly debug: (text: string) => void
  readonly clock?: Clock | undefined
}

/** How long a harness counts as at work after its last call: a model thinks between two calls. */
const lingerMs = 3_000
/** A report holds for two minutes. */
const repeatMs = 60_000
const reportMaxMs = 5_000
const source = 'mcp-client'

/**
 * Reports a harness as `active` while it calls tools, and as `unknown` after: what it does without tools is not seen here. Where a hook,
 * a bridge or the model itself has reported, their word stays, and nothing more is reported in that session. Source: S1-8, D12.
 */
export class ToolPresence implements Disposable {
  readonly #parts: Parts
  readonly #clock: Clock
  readonly #ended = new AbortController()
  #running = 0
  #activeAt: number | undefined
  #cancelEnd = (): void => {}
  #last: Promise<void> = Promise.resolve()
  /** The session in which another source reports. */
  #silentIn: string | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
  }

  /** Has the calls reported, beside the calls themselves. Waiting for mail is not work. */
  watch(call: CallApi): CallApi {
    return async (request, options) => {
      const isOwn = isOwnReport(request)
      if (!isOwn && !isWait(request)) this.#begin()
      try {
        return await call(request, options)
      } finally {
        if (isOwn) await this.#beSilent()
        else if (!isWait(request)) this.#end()
      }
    }
  }

  /** Reports nothing more: the session ends with the connection. */
  [Symbol.dispose](): void {
    this.#cancelEnd()
    this.#ended.abort()
  }

  #begin(): void {
    this.#running++
    this.#cancelEnd()
    const now = this.#clock.now()
    if (this.#activeAt !== undefined && now - this.#activeAt < repeatMs) return
    this.#activeAt = now
    this.#report('active')
  }

  #end(): void {
    this.#running--
    if (this.#running > 0 || this.#ended.signal.aborted) return
    this.#cancelEnd()
    this.#cancelEnd = this.#clock.after(lingerMs, () => {
      this.#activeAt = undefined
      this.#report('unknown')
    })
  }

  async #beSilent(): Promise<void> {
    this.#silentIn = (await this.#parts.session.ensure().catch(() => ({ id: undefined }))).id
  }

  /** Reports come one after the other, and none holds a call up. */
  #report(state: PresenceState): void {
    this.#last = this.#last
      .then(() => this.#send(state))
      .catch((error: Error) => this.#parts.debug(`Presence is not reported: ${error.message}`))
  }

  async #send(state: PresenceState): Promise<void> {
    const { api, session } = this.#parts
    const { id } = await session.ensure()
    if (id === undefined || id === this.#silentIn || this.#ended.signal.aborted) return
    const body = { presence: { state, source } }
    const headers = { 'rouse-pending-signals': 'none' }
    using late = within(reportMaxMs, this.#ended.signal)
    const answer = await api({ method: 'PUT', path: `/v1/sessions/${id}`, body, headers }, late.signal)
    const { presence } = answer.body
    if (isJsonObject(presence) && presence.source !== source) this.#silentIn = id
  }
}

/** The tool `set_presence`: the model reports by itself. */
function isOwnReport({ method, path }: ApiRequest): boolean {
  return method === 'PUT' && path === '/v1/presence'
}

function isWait({ query }: ApiRequest): boolean {
  return query?.waitSeconds !== undefined
}
