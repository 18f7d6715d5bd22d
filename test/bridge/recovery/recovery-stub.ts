import { clientFetch, type Fetch } from '../../../src/client/client-fetch.ts'

interface Act {
  readonly epoch: number
  readonly outcome: string
  readonly pid?: number
  readonly startedAt?: string
  readonly detail?: string
}

/** The routes of recovery, as a gateway has them; everything else goes to a real one. */
export class RecoveryStub {
  readonly accounts: Record<string, unknown>[] = []
  readonly begun: number[] = []
  readonly acts: Act[] = []
  readonly parks: Record<string, unknown>[] = []
  parked: { until: string | null; reason: string } | null = null
  order: { epoch: number } | null = null
  /** The faults in its answers. */
  isOld = false
  isClosed = false
  isAway = false
  refusesParks = false

  readonly fetch: Fetch = async (url, init) => {
    const { pathname } = new URL(url)
    if (!/^\/v1\/(recovery|parked)/.test(pathname)) return clientFetch(url, init)
    if (this.isAway) throw new Error('ECONNREFUSED')
    if (init.headers['rouse-pending-signals'] !== 'none') return answer(400, { detail: 'It takes the mail.' })
    if (this.isOld) return answer(404, { code: 'not-found', status: 404, title: 'No such route' })
    return this.#answer(`${init.method} ${pathname}`, JSON.parse(init.body ?? '{}'))
  }

  #answer(route: string, body: Record<string, unknown>): Response {
    if (route === 'PUT /v1/recovery/bridge') {
      this.accounts.push(body)
      const gate = { nudges: 'enabled', restarts: 'enabled' }
      return answer(200, { order: this.order && orderOf(this.order.epoch), gate, parked: this.parked })
    }
    if (route === 'PUT /v1/parked' && this.refusesParks) return answer(400, { code: 'invalid-request', status: 400 })
    if (route === 'PUT /v1/parked') {
      this.parks.push(body)
      this.parked = body as typeof this.parked
      return answer(200, { agent: '@donna', parked: body })
    }
    const { epoch } = this.order ?? {}
    if (route === 'POST /v1/recovery/acts') {
      if (this.isClosed) return answer(409, { code: 'gate-closed', status: 409, detail: 'The gate is tripped.' })
      if (body.epoch !== epoch || this.begun.includes(Number(epoch)))
        return answer(409, { code: 'stale-epoch', status: 409 })
      this.begun.push(Number(epoch))
      return answer(200, orderOf(Number(epoch)))
    }
    const [, acted] = /^POST \/v1\/recovery\/acts\/(\d+)\/report$/.exec(route) ?? []
    if (acted === undefined) return answer(404, { status: 404 })
    this.acts.push({ epoch: Number(acted), ...body } as Act)
    return answer(200, { epoch: Number(acted), outcome: body.outcome })
  }
}

const orderOf = (epoch: number) => ({
  epoch,
  mode: 'restart',
  reason: 'session_gone',
  orderedAt: new Date().toISOString(),
  deadlineAt: new Date(Date.now() + 900_000).toISOString(),
})

const answer = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
