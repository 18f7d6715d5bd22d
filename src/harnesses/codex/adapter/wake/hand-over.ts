import type { AdapterContext, OutgoingWake, WakeEnd, WakeTools } from '../../../../bridge/adapter.ts'
import { BackOff } from '../../../../lib/back-off.ts'
import type { CodexAccess } from '../access.ts'
import { isAllowed } from '../allowed.ts'
import { locateThread, type ThreadPlace } from '../locate.ts'
import { ConnectionLost, refusalOf } from '../rpc/refusals.ts'
import { turnsToLook } from '../settings.ts'
import { openThreads } from '../writers.ts'
import { follow, type HandedWake, takeBack } from './follow.ts'
import { type HookTurn, listenForHook } from './hook-turn.ts'
import type { HostedTurns } from './hosted-turns.ts'
import { anyOf } from './pause.ts'
import { labelOf } from './seen.ts'
import { ServerWay } from './server-way.ts'
import { StoredWay } from './stored-way.ts'
import {
  closed,
  closedOrBusy,
  notAlone,
  outcomeUnknown,
  refused,
  unreachable,
  type WakeTimes,
  whyNot,
} from './verdict.ts'
import type { Way, WayOptions } from './way.ts'

/** The parts that handing over needs. */
interface HandOverOptions {
  readonly access: CodexAccess
  readonly hosted: HostedTurns
  readonly context: AdapterContext
  readonly times: WakeTimes
}

const turnsLooked = 20
/** A quarter of an hour: then other wakes are tried. */
const failuresMax = 30
/** To take the wake back where its connection is lost just then. */
const attemptsAfterAbort = 2

/**
 * Hands a wake to one thread, once. It is only ever put into the queue of Codex (into the running turn, where the user has set it): that
 * touches no turn, no approval and no draft. Where its connection is lost it looks again by whatever way there is, and never adds a
 * second time. Source: S1-9…S1-17.
 */
export async function handOver(
  options: HandOverOptions,
  threadId: string,
  wake: OutgoingWake,
  tools: WakeTools,
): Promise<WakeEnd> {
  using hook = listenForHook(options.context.clients, wake.id, threadId)
  const one = new OneHandOver(options, threadId, wake, tools, hook)
  const backOff = new BackOff({ first: options.times.reconnectMs, max: options.times.reconnectMaxMs })
  for (let failures = 0, attemptsLeft = attemptsAfterAbort; attemptsLeft > 0 && failures < failuresMax; failures++) {
    const { looks } = one
    try {
      const end = await one.attempt()
      if (end) return end
    } catch (error) {
      const end = one.endAfter(error)
      if (end) return end
    }
    if (one.looks > looks) {
      failures = 0
      backOff.reset()
    }
    if (tools.signal.aborted) attemptsLeft--
    await anyOf(tools.signal, [], backOff.next())
  }
  return outcomeUnknown
}

/** One wake on its way, over however many connections. */
class OneHandOver {
  readonly #options: HandOverOptions
  readonly #threadId: string
  readonly #wake: OutgoingWake
  readonly #tools: WakeTools
  readonly #hook: HookTurn
  readonly #label: string
  #handed: HandedWake | undefined
  #hasTriedToResume = false
  #isOpenElsewhere = false

  constructor(options: HandOverOptions, threadId: string, wake: OutgoingWake, tools: WakeTools, hook: HookTurn) {
    this.#options = options
    this.#threadId = threadId
    this.#wake = wake
    this.#tools = tools
    this.#hook = hook
    this.#label = labelOf(wake.id)
  }

  /** How many looks have shown where the wake is. */
  get looks(): number {
    return this.#handed?.looks ?? 0
  }

  /** undefined: look again. Errors: `endAfter` says what they mean. */
  async attempt(): Promise<WakeEnd | undefined> {
    const { access, context } = this.#options
    const located = await locateThread(access, this.#threadId)
    if (!located)
      return this.#handed
        ? undefined
        : { step: 'misaddressed', detail: `Codex knows no conversation ${this.#threadId}` }
    const { cwd } = located.thread
    if (!this.#handed && !isAllowed(cwd, context.directories)) {
      if (located.kind === 'loaded') await located.server[Symbol.asyncDispose]()
      return { step: 'misaddressed', detail: `the conversation works in ${cwd}, which is not allowed` }
    }
    await using way = this.#open(located)
    const end = (await this.#handOnce(way)) ?? (await follow(way, this.#handed!))
    if (end !== 'closed') return end
    return await this.#whileClosed(way, located)
  }

  /** Returns how the wake ends after an error; undefined: look again. Rejects with an unexpected error. */
  endAfter(error: unknown): WakeEnd | undefined {
    const refusal = refusalOf(error)
    if (this.#handed) {
      if (refusal === undefined && !(error instanceof ConnectionLost)) throw error
      return undefined
    }
    if (refusal !== undefined) return refused(refusal, (error as Error).message)
    if (error instanceof ConnectionLost) return unreachable(error.message)
    throw error
  }

  #open(located: ThreadPlace): Way {
    if (located.kind === 'loaded') return new ServerWay(located.server, this.#wayOptions())
    const { home } = located
    return new StoredWay({
      ...this.#wayOptions(),
      openServer: () => this.#options.access.ofHome(home),
      outside: async () => ({
        writers: await openThreads(home),
        isOpenElsewhere: this.#isOpenElsewhere,
        reported: this.#options.context.clients.reportedConversations('codex'),
      }),
    })
  }

  #wayOptions(): WayOptions {
    const { access, times } = this.#options
    const turns = turnsToLook(access.settings, turnsLooked)
    return { threadId: this.#threadId, label: this.#label, times, turns }
  }

  /** Looks whether Codex has it, and hands it over where it has not. Returns the end of a wake that was not handed over. */
  async #handOnce(way: Way): Promise<WakeEnd | undefined> {
    if (this.#handed) return undefined
    const seen = await way.look()
    if (seen.turnId !== undefined || seen.queuedId !== undefined) {
      this.#handed = this.#handedBy(false)
      return undefined
    }
    const { steer, resumeClosed } = this.#options.access.settings
    const end = whyNot(seen, resumeClosed)
    if (end) return end
    const text = this.#wake.text
    await this.#tools.handingOver(way.name)
    // From here on a lost connection may mean that it has arrived.
    this.#handed = this.#handedBy(true)
    if (steer && seen.state === 'active' && (await way.steer(text))) {
      this.#tools.report('written', 'put into the turn that runs')
      return undefined
    }
    this.#handed = this.#handedBy(false)
    try {
      await way.enqueue(text)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) throw error
      // An answer that is an error may have come after the act.
      const { queuedId, turnId } = await way.look()
      if (queuedId === undefined && turnId === undefined) return refused(refusal, (error as Error).message)
    }
    this.#tools.report('written', 'in the queue of Codex')
    return undefined
  }

  #handedBy(isSteered: boolean): HandedWake {
    const { times } = this.#options
    return {
      handedAt: performance.now(),
      isSteered,
      lastReported: '',
      looks: 0,
      hook: this.#hook,
      tools: this.#tools,
      times,
    }
  }

  /** Takes the wake back from a closed conversation; or opens that, where its user has allowed it. undefined: look again. */
  async #whileClosed(way: Way, located: ThreadPlace): Promise<WakeEnd | undefined> {
    const { access } = this.#options
    const mayResume = access.settings.resumeClosed && !this.#hasTriedToResume && located.kind === 'stored'
    if (mayResume) {
      this.#hasTriedToResume = true
      const end = await this.#resume(located.home)
      if (end !== 'held back') return end
    }
    const seen = await way.look()
    const end = await takeBack(way, this.#handed!, seen)
    if (end.step !== 'held') return end
    return mayResume ? notAlone : seen.maybeClosed ? closedOrBusy : closed
  }

  /** Loads the conversation, in a server that listens or in a process of ours. Its queue then runs, so nothing else may be in it. */
  async #resume(home: string): Promise<WakeEnd | 'held back' | undefined> {
    const { access, hosted } = this.#options
    const server = await access.ofHome(home)
    let isHosted = false
    try {
      const queue = await server.queued(this.#threadId)
      if (queue.some(({ clientUserMessageId }) => clientUserMessageId !== this.#label)) return 'held back'
      const way = new ServerWay(server, this.#wayOptions())
      await server.load(this.#threadId)
      const end = await follow(way, this.#handed!)
      isHosted = server.isOwn && end !== 'closed'
      if (isHosted) hosted.keep(server, this.#threadId)
      return end === 'closed' ? undefined : end
    } catch (error) {
      this.#isOpenElsewhere = refusalOf(error) === 'active-writer'
      if (this.#isOpenElsewhere) return undefined
      throw error
    } finally {
      if (!isHosted) await server[Symbol.asyncDispose]()
    }
  }
}
