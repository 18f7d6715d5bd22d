import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { requirePrivate } from '../../security/private-files.ts'
import { lockStateFile, openStateFile, type StateFile } from '../../storage/state-file.ts'
import type { Trigger } from '../../words/events.ts'
import type { ReceiptStep } from '../../words/receipts.ts'
import type { HarnessSession } from '../adapter.ts'
import type { BegunTurn } from '../guards/guard.ts'
import { AccountRecords } from './account-records.ts'
import { StartRecords } from './start-records.ts'
import type { WakeRecord } from './statements.ts'
import * as sql from './statements.ts'

export type { WakeRecord } from './statements.ts'

interface JournalOptions {
  readonly path: string
  /** ms since the epoch */
  readonly now: () => number
  readonly note: (text: string) => void
}

const keptMs = 30 * 24 * 3_600_000
const keptRows = 100_000
const detailMax = 1_000
const writableByOthers = 0o022

/**
 * The record of what this user's bridge has handed over, and to which conversation: one file, locked by one bridge. When a call returns,
 * its change is on the disk; a call that throws has written nothing. Instants in ms since the epoch.
 */
export class Journal implements Disposable {
  /** The account of the bridge. */
  readonly account: AccountRecords
  /** The processes that it has started. */
  readonly starts: StartRecords
  /** Where it is: a directory of this user alone. */
  readonly directory: string
  readonly #file: StateFile
  readonly #release: () => void
  readonly #now: () => number

  private constructor(path: string, file: StateFile, release: () => void, now: () => number) {
    this.directory = dirname(path)
    this.#file = file
    this.#release = release
    this.#now = now
    this.account = new AccountRecords(file, now)
    this.starts = new StartRecords(file, now)
  }

  /** Opens or makes the journal, and locks it. Errors, each with its remedy: another bridge has locked it; it is damaged, or cannot be written. */
  static open({ path, now, note }: JournalOptions): Journal {
    explained(path, () => requireOwnPlace(path))
    const release = explained(path, () => lockStateFile(path))
    if (release === undefined) throw new Error(`Another bridge of this user runs${holderOf(path)}. Stop it first.`)
    try {
      const file = explained(path, () => openStateFile(path, sql.journalSchema))
      requirePrivate('store', path, (closed, mode) => note(`${closed} was open to others (mode ${mode}): closed.`))
      file.run(sql.saveHolder, { pid: process.pid, now: now() })
      return new Journal(path, file, release, now)
    } catch (error) {
      release()
      throw error
    }
  }

  /** Opens the journal for reading, while a bridge may hold it. Returns undefined when there is none. */
  static read({ path, now }: Omit<JournalOptions, 'note'>): Journal | undefined {
    if (!existsSync(path)) return undefined
    const file = explained(path, () => openStateFile(path, sql.journalSchema, { readonly: true }))
    return new Journal(path, file, () => {}, now)
  }

  /**
   * Records that a wake has come, and returns its record. A wake that failed before is open again. undefined: the id is on record for
   * another agent, which is a fault of the gateway.
   */
  accept(wake: { id: string; agent: string; subscriptionId: string; sender: string | null }): WakeRecord | undefined {
    const { id, agent } = wake
    const now = this.#now()
    this.#file.run(sql.insertWake, { ...wake, now })
    this.#file.run(sql.reopenWake, { id, agent, now })
    return this.find(id, agent)
  }

  find(id: string, agent: string): WakeRecord | undefined {
    return this.#file.get(sql.selectWake, { id, agent })
  }

  /** Notes that the act follows which cannot be taken back, and books a turn. `senders`: whose turn it is. */
  handOver(
    id: string,
    { harness, conversationId, cwd }: HarnessSession,
    route: string,
    senders: readonly string[] = [],
  ): void {
    const said = { senders: JSON.stringify(senders), now: this.#now() }
    this.#file.run(sql.insertTurn, { id, ...said })
    this.#file.run(sql.handOverWake, { id, harness, conversationId, cwd: cwd ?? null, route, ...said })
  }

  /** Notes that nothing is handed over any more. `isTurn`: what was begun for it counts all the same. */
  takeBack(id: string, detail: string, isTurn = false): void {
    if (!isTurn) this.#file.run(sql.deleteTurn, { id })
    this.#file.run(sql.takeBackWake, { id, detail: detail.slice(0, detailMax), now: this.#now() })
  }

  note(id: string, step: ReceiptStep, detail: string): void {
    this.#file.run(sql.noteWake, { id, step, detail: detail.slice(0, detailMax), now: this.#now() })
  }

  end(id: string, step: ReceiptStep, detail: string): void {
    this.#file.run(sql.endWake, { id, step, detail: detail.slice(0, detailMax), now: this.#now() })
  }

  /** When the nth last turn of this bridge began; undefined: there are fewer. */
  nthLastTurn(n: number): number | undefined {
    return this.#file.get(sql.nthOfBridge, { skipped: n - 1, now: this.#now() })?.at
  }

  /** The newest turns of an agent after an instant, the newest first. */
  turnsOf(agent: string, since: number, limit: number): BegunTurn[] {
    const rows = this.#file.all(sql.turnsOfAgent, { agent, since, limit, now: this.#now() })
    return rows.map(({ at, senders }) => ({ at, senders: JSON.parse(senders) as string[] }))
  }

  /** How many turns began after an instant: of an agent, or of all. */
  turnsSince(agent: string | undefined, since: number): number {
    if (agent === undefined) return this.#file.get(sql.countAllTurns, { since, now: this.#now() })?.turns ?? 0
    return this.#file.get(sql.countTurns, { agent, since, now: this.#now() })?.turns ?? 0
  }

  /** The wakes of an agent that have changed last. */
  newest(agent: string, limit: number): WakeRecord[] {
    return this.#file.all(sql.newestOfAgent, { agent, limit })
  }

  /** The subscriptions that the bridge has made for an agent. */
  subscriptionsOf(agent: string): Map<string, string> {
    const rows = this.#file.all(sql.selectSubscriptions, { agent })
    return new Map(rows.map(({ trigger, subscriptionId }) => [trigger, subscriptionId]))
  }

  saveSubscription(agent: string, trigger: Trigger, subscriptionId: string): void {
    this.#file.run(sql.saveSubscription, { agent, trigger, subscriptionId })
  }

  /** Notes that the process of a session runs here: another machine proves nothing about it. */
  saveSeen(agent: string, session: sql.SeenSession): void {
    this.#file.run(sql.saveSeen, { agent, ...session })
  }

  /** The session of an agent whose process was last seen here. */
  seenSession(agent: string): sql.SeenSession | undefined {
    return this.#file.get(sql.selectSeen, { agent })
  }

  /** Removes rows that are older than 30 days, and the oldest beyond 100,000. */
  prune(): void {
    this.#file.run(sql.deleteOlder, { before: this.#now() - keptMs })
    this.#file.run(sql.deleteOlderTurns, { before: this.#now() - keptMs })
    this.#file.run(sql.deleteBeyond, { kept: keptRows - 1 })
    this.starts.prune(this.#now() - keptMs)
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]()
    this.#release()
  }
}

/** The process that holds the journal, for a message: ` (process 4711)`. Empty where it cannot be read. */
function holderOf(path: string): string {
  try {
    using file = openStateFile(path, sql.journalSchema, { readonly: true })
    const holder = file.get(sql.selectHolder, {})
    return holder ? ` (process ${holder.pid})` : ''
  } catch {
    return ''
  }
}

/** A file that another program has put in the place of the journal, or may put there, is not written to. Errors: with the remedy. */
function requireOwnPlace(path: string): void {
  for (const file of [path, `${path}.lock`]) {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink()) throw new Error(`${file} is a symbolic link, and may lead anywhere. Remove it.`)
  }
  const own = process.getuid?.()
  const directory = dirname(path)
  const stats = own === undefined ? undefined : statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || (stats.mode & writableByOthers) === 0) return
  throw new Error(
    `Others may change what is in ${directory}, where the journal is. Keep them out: chmod go-w ${directory}`,
  )
}

function explained<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new Error(`The journal of the bridge, ${path}, ${faultOf(code, message)}`, { cause: error })
  }
}

function faultOf(code: string, message: string): string {
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return 'is damaged. Move it away, and start again: what was handed over in the last minutes may then come a second time.'
  }
  if (/^(SQLITE_(READONLY|CANTOPEN|FULL|IOERR)|E[A-Z]+$)/.test(code)) {
    return `cannot be written (${code}): a bridge without it would wake twice. Give this user the right to it, or room on the disk, or name another directory in XDG_STATE_HOME.`
  }
  return `cannot be opened: ${message}.`
}
