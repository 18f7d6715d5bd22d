import { cutLine, oneLine } from '../lib/words.ts'
import { type Need, needIdOf } from '../needs/need.ts'
import { needActs } from '../words/needs.ts'

const subjectMax = 120

/** The content of a notification, for the worker of the page. No words of an agent are in it but the subject of its task. */
export interface Notification {
  readonly title: string
  readonly subject: string
  readonly agent: string | null
  readonly kind: string
  /** The id of the need. */
  readonly need: string
  /** Where the page shows it. */
  readonly place: string
}

/** Returns the notification of a need, and of how many others have come since the last one. Pure. */
export function notificationOf(need: Need, others: number): Notification {
  const { kind, agent, subject = '' } = need
  const id = needIdOf(need)
  const more = others === 0 ? '' : `, and ${others.toLocaleString('en')} more wait${others === 1 ? 's' : ''} for you`
  return {
    title: `${agent ?? 'The project'} ${needActs[kind]}${more}`,
    subject: cutLine(oneLine(subject), subjectMax),
    agent,
    kind,
    need: id,
    place: `#/needs/${encodeURIComponent(id)}`,
  }
}
