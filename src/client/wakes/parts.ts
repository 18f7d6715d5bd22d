import { isJsonObject } from '../../lib/json.ts'
import type { Wake } from './wake.ts'
import type { WakeContext } from './wake-context.ts'

/**
 * Returns the tasks and messages of a digest as wakes of their own, so that one of them cannot make a command fail for the others. None: it is no
 * digest, or has one subject only. Pure.
 */
export function partsOf(wake: Wake): Wake[] {
  const { refs } = wake.payload
  if (wake.eventType !== 'wake/digest' || !Array.isArray(refs)) return []
  const subjects = new Map<string, Wake>()
  for (const ref of refs) {
    if (!isJsonObject(ref)) continue
    const { eventType, logId, ...payload } = ref
    const subject = payload.taskId ?? payload.messageId
    if (typeof subject !== 'string' || typeof eventType !== 'string') continue
    subjects.set(subject, { ...wake, eventType, logId: typeof logId === 'number' ? logId : null, payload })
  }
  const parts = [...subjects.values()].map((part, index) => ({ ...part, eventId: `${wake.eventId}-${index + 1}` }))
  return parts.length > 1 ? parts : []
}

const doable = ['submitted', 'working']

/** True when a part is about tasks, and none of them is left to work on: an earlier run has ended them. Pure. */
export const isOver = ({ tasks }: Pick<WakeContext, 'tasks'>): boolean =>
  tasks.length > 0 && !tasks.some(({ state }) => doable.includes(state))
