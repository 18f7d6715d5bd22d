import type { GatewayClient } from '../../client/gateway-client.ts'
import { plain } from '../../client/terminal-text.ts'
import { within } from '../../lib/within.ts'
import type { AdapterId, Asked } from '../adapter.ts'
import type { BridgedAgent } from '../config/bridge-config.ts'
import type { AdapterHost } from '../run/adapter-host.ts'
import type { Conversations } from '../run/conversations.ts'
import { type ApprovalRecord, awaitDecision, type Closing, closeRecord, openRecord, untilAnswered } from './record.ts'

/** The parts of its run that the approvals of an agent use. */
interface ApprovalParts {
  readonly agent: BridgedAgent
  readonly gateway: GatewayClient
  readonly conversations: Conversations
  readonly host: AdapterHost
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
  /** Aborted when the run is over. */
  readonly over: AbortSignal
}

/** A dialog of a harness has no end of its own. The longest that the gateway takes. */
const expiresInSeconds = 86_400
const closeMsMax = 60_000
const listMsMax = 10_000
const openMax = 100

/**
 * The requests of an agent's harnesses to their user: each has a record at the gateway while it waits, and the answer of a person there is given
 * on. Without `approvals` in the configuration there are none.
 */
export class AgentApprovals {
  readonly #parts: ApprovalParts
  readonly #relaying = new Set<Promise<void>>()
  #cleared: Promise<void> = Promise.resolve()

  constructor(parts: ApprovalParts) {
    this.#parts = parts
  }

  /** Returns what ends it. */
  start(): () => void {
    const { agent, host } = this.#parts
    if (!agent.approvals) return () => {}
    this.#cleared = this.#withdrawLeft()
    this.#keep(this.#cleared)
    return host.onAsked((harness, asked) => this.#keep(this.#relay(harness, asked)))
  }

  /** Resolves when the records of what waits are closed, or the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    if (!signal.aborted) await Promise.race([Promise.all(this.#relaying), stopped])
  }

  #keep(work: Promise<void>): void {
    const kept = work
      .catch((error: Error) => {
        if (!this.#parts.over.aborted)
          this.#parts.note(`an approval is answered in its harness alone: ${plain(error.message)}`)
      })
      .finally(() => this.#relaying.delete(kept))
    this.#relaying.add(kept)
  }

  async #relay(harness: AdapterId, asked: Asked): Promise<void> {
    const { gateway, conversations, over } = this.#parts
    await this.#cleared
    if (!(await conversations.isOwn(harness, asked.conversationId, over))) return
    const { answer, ended, ...request } = asked
    const signal = AbortSignal.any([over, ended])
    let record: ApprovalRecord | undefined
    let isGiven = false
    try {
      // Also when it has ended meanwhile: the record may be there, and has to be closed.
      record = await openRecord(gateway, { ...request, harness, expiresInSeconds }, over)
      const decision = await awaitDecision(gateway, record, signal)
      if (!decision) return
      isGiven = true
      const outcome = await answer(decision)
      if (outcome) await this.#close(record.id, { outcome })
    } catch (error) {
      if (isGiven || !signal.aborted) throw error
      if (record) await this.#close(record.id, { state: ended.aborted ? ended.reason : 'withdrawn' })
    }
  }

  /** Closes what a bridge that was killed has left: a request that still waits gets another record. */
  async #withdrawLeft(): Promise<void> {
    const { gateway, host, over } = this.#parts
    const left: string[] = []
    let pageToken: string | undefined
    do {
      const query = { state: 'open', limit: openMax, pageToken } as const
      const page = await untilAnswered(over, () =>
        gateway.call('GET /v1/approvals', { query, mail: 'none', timeoutMs: listMsMax, signal: over }),
      )
      for (const { harness, approvalId } of page.approvals) if (host.asks(harness)) left.push(approvalId)
      pageToken = page.nextPageToken || undefined
    } while (pageToken !== undefined)
    await Promise.all(left.map((id) => this.#close(id, { state: 'withdrawn' })))
  }

  /** Also when the run is over. */
  async #close(id: string, closing: Closing): Promise<void> {
    using late = within(closeMsMax)
    await closeRecord(this.#parts.gateway, id, closing, late.signal)
  }
}
