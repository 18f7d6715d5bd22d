import { Help } from 'commander'
import type { Io } from '../../client/io.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { nudge, nudgeText } from '../../client/wakes/nudge-text.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { timeOfDay } from '../output/when.ts'

const detailLengthMax = 200

/** A wake for people. A pipe gets one line of it, a terminal what a person reads, broken between words. */
export function wakeLine(io: Pick<Io, 'columns'>, wake: Wake): string {
  const { emittedAt, logId, eventType, agentIdentity } = wake
  const type = plain(eventType)
  const columns = [
    emittedAt === undefined ? '' : timeOfDay(io, emittedAt),
    logId === undefined || logId === null ? '' : `#${logId}`,
    io.columns === undefined ? type : type.replace('wake/', '').replaceAll('_', ' '),
    plain(agentIdentity),
    clip(detail(io, wake), detailLengthMax),
  ]
  const line = columns.filter(Boolean).join('  ')
  return io.columns === undefined ? line : new Help().boxWrap(line, io.columns)
}

/** The JSON has everything. */
function detail(io: Pick<Io, 'columns'>, { eventType, payload }: Wake): string {
  switch (eventType) {
    case 'wake/sent_to_me':
      // A part of a digest has ids only.
      return payload.from === undefined ? plain(payload) : `from ${plain(payload.from)}: ${plain(payload.subject)}`
    case 'wake/task_state_changed':
      return `task ${plain(payload.taskId)}: ${plain(payload.previousState ?? 'new')} → ${plain(payload.newState)}`
    case 'wake/permission_granted':
      return `${plain(payload.scope)} by ${plain(payload.grantedBy)}`
    case 'wake/digest':
      return (io.columns !== undefined && digestText(plain(payload.summary, 'lines'))) || plain(payload.summary)
    case nudge: {
      const { why, next } = nudgeText(payload)
      return `${why} ${next}`
    }
    default:
      return Object.keys(payload).length > 0 ? plain(payload) : ''
  }
}

/** `"Review PR 7" from @lucy; 3 task transitions (latest: …)`: the kinds of a summary, whose first line has the same numbers. */
function digestText(summary: string): string {
  const kinds = summary.split('\n').filter((line) => line.startsWith('- '))
  return kinds.map((line) => line.slice(2).replace(/^1 [^(]*\(latest: (.*)\)$/, '$1')).join('; ')
}
