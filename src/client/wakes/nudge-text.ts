import type { JsonObject } from '../../lib/json.ts'
import { clip, plain } from '../terminal-text.ts'
import { withoutMentions } from './inert-text.ts'

/** The type of a wake that no message and no task has caused: the gateway reminds an agent of what waits. */
export const nudge = 'wake/heartbeat_pulse'

const lengthMax = { instant: 40, next: 160 } as const

/** Returns what a model reads of a nudge: why it comes, and the one next action. It is of the gateway, so no agent is named. Pure. */
export function nudgeText({ unread, openTasks, oldestAt, next }: JsonObject): { why: string; next: string } {
  const waits = [counted(unread, 'unread message'), counted(openTasks, 'open task')].filter((one) => one !== undefined)
  const what = waits.length === 0 ? 'something of yours waits' : `you have ${waits.join(' and ')}`
  const since = typeof oldestAt === 'string' ? `, the oldest since ${clip(plain(oldestAt), lengthMax.instant)}` : ''
  const action = typeof next === 'string' ? clip(withoutMentions(plain(next)), lengthMax.next) : ''
  return {
    why: `The gateway reminds you: ${what}${since}.`,
    next: `Next: ${action === '' ? 'rouse inbox --unread' : action}`,
  }
}

function counted(value: unknown, what: string): string | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return undefined
  return `${value} ${what}${value === 1 ? '' : 's'}`
}
