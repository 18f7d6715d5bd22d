import type { OutgoingWake, WakeEnd, WakeTools } from '../../../../bridge/adapter.ts'
import { openFeed } from '../http/event-feed.ts'
import { messageIdOf } from '../message-id.ts'
import { heldBy, readActivity, stateOf } from './activity.ts'
import type { V1Api } from './api.ts'
import { settingsOfLastPrompt } from './progress.ts'
import { followTurn, TurnSignal } from './turn.ts'

/** The name of this way in the journal and in `HarnessSession.route`. */
export const portRoute = 'port'

/**
 * Starts a turn with a wake in a conversation of the process that listens on a port. An id is never sent twice, because OpenCode would add
 * the text to the first prompt and start nothing: a prompt that is already there is only followed. Errors: the signal aborts; OpenCode ended
 * after it got the prompt.
 */
export async function wakeByPort(
  api: V1Api,
  conversationId: string,
  wake: OutgoingWake,
  tools: WakeTools,
): Promise<WakeEnd> {
  const id = messageIdOf(wake.id)
  const turn = new TurnSignal(conversationId, id)
  // Before the act: the event that proves the turn comes once, within a tenth of a second.
  using feed = openFeed(api.server, '/event', (event) => turn.take(event))
  await feed.opened
  const refusal = await promptOnce(api, conversationId, id, wake, tools)
  return refusal ?? (await followTurn(api, { conversationId, id, turn }, tools))
}

/** Hands the text over, unless it is there. Returns why not. */
async function promptOnce(
  api: V1Api,
  conversationId: string,
  id: string,
  wake: OutgoingWake,
  tools: WakeTools,
): Promise<WakeEnd | undefined> {
  let settings: object
  try {
    if ((await api.session(conversationId, tools.signal)) === undefined) {
      return { step: 'misaddressed', detail: `OpenCode has no conversation ${conversationId} any more.` }
    }
    if (await api.message(conversationId, id, tools.signal)) return undefined
    settings = settingsOfLastPrompt(await api.messages(conversationId, tools.signal))
    const held = heldBy(stateOf(conversationId, await readActivity(api, tools.signal)))
    if (held) return held
  } catch (error) {
    tools.signal.throwIfAborted()
    return {
      step: 'held',
      detail: `Its state cannot be read: ${(error as Error).message}.`,
      reason: 'presence_unknown',
      retryAfterMs: unreadableMs,
    }
  }
  await tools.handingOver(portRoute)
  tools.signal.throwIfAborted()
  const body = { messageID: id, ...settings, parts: [{ type: 'text', text: wake.lines }] }
  // Without an answer, or with a fault of the server, it is open whether OpenCode has it: `followTurn` looks.
  const { status = 500 } = (await api.prompt(conversationId, body).catch(() => undefined)) ?? {}
  if (status >= 400 && status < 500) {
    return { step: 'failed', detail: `OpenCode refused the prompt with HTTP ${status}.`, isUntouched: true }
  }
  if (status >= 200 && status < 300) tools.report('accepted', 'OpenCode took the prompt. That proves no turn.')
  return undefined
}

const unreadableMs = 5_000
