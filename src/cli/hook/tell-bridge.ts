import { callBridge } from '../../bridge/local/call-bridge.ts'
import type { MessageOf } from '../../bridge/local/messages.ts'
import { wakeIdsIn } from '../../bridge/wake-text.ts'
import { conversationOf, turnOf } from '../../harnesses/conversation.ts'
import { actOf, beginsTurn } from '../../harnesses/hooks.ts'
import type { Hook } from './run-hook.ts'

/**
 * Reports to the bridge of this user what a harness does, and which wakes began a turn: no route into Claude Code answers, so this is its
 * proof. Without a bridge it is over at once. Never rejects.
 */
export async function tellBridge(hook: Hook): Promise<void> {
  const message = bridgeMessage(hook)
  if (message) await callBridge(hook.env, message)
}

/** Returns the report to the bridge about an event; undefined: it does not concern the bridge. Pure. */
function bridgeMessage({ harness, event, input, process, env }: Hook): MessageOf<'hook'> | undefined {
  if (!harness?.hooks || !/^\w[\w -]{0,99}$/.test(event)) return undefined
  const { cwd, sessionId } = conversationOf(input).harness ?? {}
  const { activeTurnId: turnId } = turnOf(input)
  const wakeIds = beginsTurn(harness.hooks, event) && typeof input.prompt === 'string' ? wakeIdsIn(input.prompt) : []
  const said = {
    type: 'hook' as const,
    harness: harness.id,
    event,
    ...(sessionId === undefined ? {} : { conversationId: sessionId }),
    ...(turnId === undefined ? {} : { turnId }),
    ...(wakeIds.length === 0 ? {} : { wakeIds }),
  }
  // `claude -p --resume` speaks under the id of a conversation that may be open in a terminal.
  if (harness.hooks.isUnattended?.(env)) return wakeIds.length === 0 ? undefined : said
  const mode = input.permission_mode
  const { state, ends } = actOf(harness.hooks, event, input)
  if (state === undefined && !ends && wakeIds.length === 0) return undefined
  return {
    ...said,
    ...(cwd === undefined ? {} : { cwd }),
    process,
    ...(state === undefined ? {} : { state }),
    ...(typeof mode === 'string' && /^[A-Za-z]{1,40}$/.test(mode) ? { permissionMode: mode } : {}),
    ...(ends ? { ends } : {}),
  }
}
