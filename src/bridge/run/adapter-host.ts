import { BackOff } from '../../lib/back-off.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { within } from '../../lib/within.ts'
import type {
  Adapter,
  AdapterContext,
  AdapterId,
  AdapterRow,
  Asked,
  HarnessSession,
  LimitedAt,
  Probe,
  UsageLimit,
} from '../adapter.ts'
import type { LocalClients } from '../local/clients.ts'

/** A limit of a vendor, where it was shown. */
type Limited = (harness: AdapterId, limit: UsageLimit, at: LimitedAt) => void

/** A request of a harness to its user. */
type AskedListener = (harness: AdapterId, asked: Asked) => void

/** A conversation that has changed; undefined: something of the harness has. */
export type ChangeListener = (session: HarnessSession | undefined) => void

interface Hosted {
  readonly row: AdapterRow
  readonly adapter: Adapter
  readonly listeners: Set<ChangeListener>
  /** The last report of a watch about each conversation. */
  readonly reported: Map<string, HarnessSession>
  looking?: Promise<Probe> | undefined
  looked?: { readonly probe: Probe; readonly at: number } | undefined
}

interface HostOptions extends Omit<AdapterContext, 'settings'> {
  readonly rows: readonly AdapterRow[]
  readonly settings: Readonly<Partial<Record<AdapterId, Readonly<Record<string, unknown>>>>>
  readonly clients: LocalClients
}

const lookMsMax = 10_000
/** Two hundred agents that look at the same time look once. */
const freshMs = 1_000
const watchAgainMs = { first: 5_000, max: 300_000 } as const
const reportedMax = 1_000
const disposeMsMax = 750

/** One adapter for each harness, for all agents. What fails in one of them stays there. */
export class AdapterHost implements AsyncDisposable {
  readonly #hosted = new Map<AdapterId, Hosted>()
  readonly #options: HostOptions
  readonly #stopping = new AbortController()
  readonly #watches: Promise<void>[] = []
  readonly #ends: (() => void)[] = []
  readonly #limited = new Set<Limited>()
  readonly #asked = new Set<AskedListener>()

  /** Errors: settings that an adapter cannot work with, with its name. */
  constructor(options: HostOptions) {
    this.#options = options
    for (const row of options.rows) this.#hosted.set(row.id, this.#create(row))
  }

  /** Begins to watch. */
  start(): void {
    for (const [id, { adapter }] of this.#hosted) {
      this.#ends.push(this.#options.clients.onChange(id, () => this.#changed(id, undefined)))
      adapter.onLimit?.((limit, at) => {
        for (const limited of this.#limited) limited(id, limit, at)
      })
      if (adapter.watch) this.#watches.push(this.#watch(id))
    }
  }

  adapter(id: AdapterId): Adapter {
    return this.#of(id).adapter
  }

  row(id: AdapterId): AdapterRow {
    return this.#of(id).row
  }

  /** True when the requests of a harness to its user can be answered here. */
  asks(id: AdapterId): boolean {
    return this.#hosted.get(id)?.adapter.onAsked !== undefined
  }

  get ids(): readonly AdapterId[] {
    return [...this.#hosted.keys()]
  }

  /** Returns the running sessions of a harness, not older than a second. Never rejects: a failure is a remark. */
  look(id: AdapterId): Promise<Probe> {
    const hosted = this.#of(id)
    const { looked } = hosted
    const ageMs = looked === undefined ? Number.POSITIVE_INFINITY : this.#options.now() - looked.at
    if (looked && ageMs >= 0 && ageMs < freshMs) return Promise.resolve(looked.probe)
    hosted.looking ??= this.#look(hosted).finally(() => {
      hosted.looking = undefined
    })
    return hosted.looking
  }

  /** Returns the last report of the watch of a harness. */
  reported(id: AdapterId): readonly HarnessSession[] {
    return [...this.#of(id).reported.values()]
  }

  /** Calls back when a conversation of a harness changes. Returns what ends that. */
  onChange(id: AdapterId, changed: ChangeListener): () => void {
    const { listeners } = this.#of(id)
    listeners.add(changed)
    return () => void listeners.delete(changed)
  }

  /** Calls back with each limit that a harness shows. Returns what ends that. */
  onLimit(limited: Limited): () => void {
    this.#limited.add(limited)
    return () => void this.#limited.delete(limited)
  }

  /** Calls back with each request of a harness to its user. The first call begins to look for them. Returns what ends that. */
  onAsked(listener: AskedListener): () => void {
    if (this.#asked.size === 0) {
      for (const [id, { adapter }] of this.#hosted)
        adapter.onAsked?.((asked) => {
          for (const one of this.#asked) one(id, asked)
        })
    }
    this.#asked.add(listener)
    return () => void this.#asked.delete(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    for (const end of this.#ends) end()
    const disposals = [...this.#hosted.values()].map(({ adapter }) => adapter[Symbol.asyncDispose]())
    const over = new AbortController()
    await Promise.race([
      Promise.allSettled([...this.#watches, ...disposals]),
      sleep(systemClock, disposeMsMax, over.signal),
    ])
    over.abort()
  }

  #of(id: AdapterId): Hosted {
    const hosted = this.#hosted.get(id)
    if (hosted === undefined) throw new Error(`The adapter ${id} is not configured.`)
    return hosted
  }

  #create(row: AdapterRow): Hosted {
    const { env, directories, clients, now, note, settings } = this.#options
    try {
      const own = settings[row.id] ?? {}
      const adapter = row.create({ env, directories, clients, now, note, settings: own })
      return { row, adapter, listeners: new Set(), reported: new Map() }
    } catch (error) {
      throw new Error(`adapters.${row.id}: ${(error as Error).message}`, { cause: error })
    }
  }

  async #look(hosted: Hosted): Promise<Probe> {
    using late = within(lookMsMax, this.#stopping.signal)
    const { signal } = late
    const { title } = hosted.row
    const failed = (why: string): Probe => ({ isThere: false, sessions: [], remarks: [`${title}: ${why}`] })
    const isLate = new Promise<Probe>((resolve) => {
      signal.addEventListener('abort', () => resolve(failed(`no answer within ${lookMsMax / 1_000} s`)), { once: true })
    })
    const found = Promise.resolve()
      .then(() => hosted.adapter.probe(signal))
      .catch((error: Error) => failed(error.message))
    const probe = await Promise.race([found, isLate])
    hosted.looked = { probe, at: this.#options.now() }
    return probe
  }

  /** A watch that ends, or fails, begins again: a harness may be updated, or come later. */
  async #watch(id: AdapterId): Promise<void> {
    const { row, adapter, reported } = this.#of(id)
    const { signal } = this.#stopping
    let isNoted = false
    const backOff = new BackOff(watchAgainMs)
    while (!signal.aborted) {
      const startedAt = this.#options.now()
      try {
        await adapter.watch!((session) => this.#tell(id, session), signal)
      } catch (error) {
        if (signal.aborted) return
        if (!isNoted) this.#options.note(`${row.title}: its conversations are not watched: ${(error as Error).message}`)
        isNoted = true
      }
      reported.clear()
      if (signal.aborted) return
      if (this.#options.now() - startedAt > watchAgainMs.max) backOff.reset()
      await backOff.pause(signal)
    }
  }

  #tell(id: AdapterId, session: HarnessSession): void {
    const { reported } = this.#of(id)
    reported.delete(session.conversationId)
    reported.set(session.conversationId, session)
    if (reported.size > reportedMax) reported.delete(reported.keys().next().value!)
    this.#changed(id, session)
  }

  #changed(id: AdapterId, session: HarnessSession | undefined): void {
    const hosted = this.#of(id)
    hosted.looked = undefined
    for (const changed of [...hosted.listeners]) changed(session)
  }
}
