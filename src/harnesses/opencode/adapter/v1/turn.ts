import { setTimeout as delay } from 'node:timers/promises'
import type { WakeEnd, WakeTools } from '../../../../bridge/adapter.ts'
import { isJsonObject } from '../../../../lib/json.ts'
import type { HarnessEvent } from '../http/event-feed.ts'
import { readActivity, stateOf } from './activity.ts'
import type { V1Api } from './api.ts'
import { progressOf } from './progress.ts'

/** The proof of the turn of one prompt, from the events of a server, and a way to wait for the next event. */
export class TurnSignal {
  readonly #conversationId: string
  readonly #id: string
  #hasBegun = false
  #noteEvent = () => {}

  constructor(conversationId: string, messageId: string) {
    this.#conversationId = conversationId
    this.#id = messageId
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  take({ type, properties }: HarnessEvent): void {
    const { role, parentID, sessionID = this.#conversationId } = isJsonObject(properties.info) ? properties.info : {}
    const isAnswer = type === 'message.updated' && role === 'assistant' && parentID === this.#id
    if (isAnswer && sessionID === this.#conversationId) this.#hasBegun = true
    else if (!telling.test(type)) return
    this.#noteEvent()
  }

  /** Resolves with the next event that may matter, or after `waitMs` without one. */
  async next(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#hasBegun) return
    const waited = new AbortController()
    const event = new Promise<void>((resolve) => {
      this.#noteEvent = resolve
    })
    const options = { signal: AbortSignal.any([signal, waited.signal]) }
    await Promise.race([event, delay(waitMs, undefined, options).catch(() => {})])
    waited.abort()
  }
}

const telling = /^(session\.(status|idle|error)|permission\.|question\.|message\.removed)/

interface Prompted {
  readonly conversationId: string
  /** Of the prompt. */
  readonly id: string
  readonly turn: TurnSignal
}

/** Without an event the state is read this often. */
const lookMs = 1_000
/** If a conversation is idle for this long and its prompt has no answer, OpenCode has skipped the prompt. A turn begins within 0.2 s. */
const idleMaxMs = 3_000
/** A prompt that is not in the history after this time never arrived. The first one of a process takes up to 7 s. */
const absentMaxMs = 20_000
/** After this many requests in a row without an answer, OpenCode counts as gone. */
const failuresMax = 3

/**
 * Follows a prompt until its turn has begun. A prompt that OpenCode has skipped is removed from the history, so that it can be handed
 * over again: otherwise the next prompt of the user would carry it along. Errors: the signal aborts, OpenCode is gone.
 */
export async function followTurn(api: V1Api, prompted: Prompted, tools: WakeTools): Promise<WakeEnd> {
  const { conversationId, id, turn } = prompted
  const since = { start: performance.now(), idle: undefined as number | undefined }
  let saidHeld = false
  for (let failures = 0; ; ) {
    await turn.next(lookMs, tools.signal)
    tools.signal.throwIfAborted()
    if (turn.hasBegun) return began(id)
    try {
      const activity = await readActivity(api, tools.signal)
      const progress = progressOf(await api.messages(conversationId, tools.signal), id)
      failures = 0
      if (progress === 'turn_started') return began(id)
      if (progress === 'carried')
        return { step: 'delivered', detail: 'The turn of a later prompt had it in its context.' }
      const now = performance.now()
      if (progress === 'absent') {
        if (now - since.start < absentMaxMs) continue
        return { step: 'unknown', detail: 'OpenCode was sent the prompt, and it is not in the conversation.' }
      }
      if (stateOf(conversationId, activity) !== 'idle') {
        since.idle = undefined
        if (!saidHeld) tools.report('held', waitsForTurn, 'turn_active')
        saidHeld = true
        continue
      }
      since.idle ??= now
      if (now - since.idle >= idleMaxMs && (await isTakenBack(api, prompted))) {
        return passedOver
      }
      if (now - since.idle >= idleMaxMs && !saidHeld) {
        tools.report('held', notTakenBack, 'cannot_start_turn')
        saidHeld = true
      }
    } catch (error) {
      tools.signal.throwIfAborted()
      failures += 1
      if (failures >= failuresMax) throw error
    }
  }
}

/** The detail of a wake that is in the conversation already. */
export const waitsForTurn = 'It is in the conversation, and waits until the running turn ends.'

const notTakenBack = 'OpenCode has skipped it, and does not let it be taken back.'

export const passedOver: WakeEnd = {
  step: 'held',
  detail: 'The turn before it was stopped, and OpenCode skipped it. It was taken back.',
  reason: 'cannot_start_turn',
}

function began(id: string): WakeEnd {
  return { step: 'turn_started', detail: `message.updated: an answer to ${id}` }
}

/** True when the prompt is out of the history. OpenCode refuses that while a turn runs. */
async function isTakenBack(api: V1Api, { conversationId, id }: Prompted): Promise<boolean> {
  const { status } = await api.removeMessage(conversationId, id)
  return status === 200
}
