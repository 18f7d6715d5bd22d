import { cutText } from '../lib/cut-text.ts'
import { oneLine } from '../lib/words.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { type Need, needIdOf } from './need.ts'
import type { NeedNotice } from './telling.ts'

const subjectMax = 200

/** Something waits for a person: what it is about, and the beginning of its text. Pure. */
export function raisedEvent(need: Need): NewEvent {
  const { kind, agent, since, text, taskId, messageId, sessionId, approvalId, subscriptionId } = need
  const named = Object.entries({ taskId, messageId, sessionId, approvalId, subscriptionId }).filter(
    ([, id]) => id !== undefined,
  )
  const about = { change: 'raised', need: needIdOf(need), kind, agent, ...Object.fromEntries(named), since }
  // The first line of an approval is the tool. What it is to do is read where it is decided.
  const subject = approvalId === undefined ? text : text.split('\n', 1)[0]!
  return eventOf('need.raised', { ...about, subject: cutText(oneLine(subject), subjectMax) })
}

/** The event that a need is resolved of which operators were notified. Pure. */
export function clearedEvent({ id: need, kind, agent }: Pick<NeedNotice, 'id' | 'kind' | 'agent'>): NewEvent {
  const named = need.startsWith('WAKE_SUB:') ? { subscriptionId: need } : {}
  return eventOf('need.cleared', { change: 'cleared', need, kind, agent, ...named })
}

const eventOf = (type: 'need.raised' | 'need.cleared', data: NewEvent['data']): NewEvent => ({
  type,
  actor: gatewayIdentity,
  audience: [operatorAudience],
  data,
})
