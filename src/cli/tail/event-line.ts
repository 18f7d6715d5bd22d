import type { Io } from '../../client/io.ts'
import type { EventView } from '../../client/route-types.ts'
import { clip, plain, widthOf } from '../../client/terminal-text.ts'
import { paintState } from '../output/state-colors.ts'
import { endOfId } from '../output/table.ts'
import { timeOfDay } from '../output/when.ts'

/** Subjects that are remembered, so that a later step of a task says which task it is. */
const subjectsMax = 1_000

/** The names of the subject of an event, in this order. */
const names = [
  'taskId',
  'messageId',
  'subscriptionId',
  'sessionId',
  'configId',
  'approvalId',
  'tool',
  'answer',
  'ref',
  'agent',
  'identity',
  'owner',
  'assignee',
  'surface',
  'step',
  'status',
  'change',
  'mode',
  'trigger',
  'grantee',
  'scope',
  'label',
] as const

/** Makes the function that returns the line of an event: when, who did it, what, and about which thing. On a terminal it is one line of it. */
export function eventLines(io: Pick<Io, 'columns' | 'color'>): (event: EventView) => string {
  const subjects = new Map<string, string>()
  return (event) => {
    const { taskId, actor, createdAt, data } = event
    if (taskId && typeof data.subject === 'string') {
      subjects.set(taskId, data.subject)
      if (subjects.size > subjectsMax) subjects.delete(subjects.keys().next().value!)
    }
    const head = `${timeOfDay(io, createdAt)}  ${plain(whoOf(actor, data)).padEnd(10)}  ${whatOf(event)}`
    const about = aboutOf(io, event, data.subject ?? (taskId && subjects.get(taskId)))
    const columns = io.columns ?? Number.POSITIVE_INFINITY
    const room = columns - widthOf(head) - 2
    if (room < 1) return clip(head, columns)
    const shown = head.replace(/[\w-]+$/, (state) => paintState(io, state))
    return about === '' ? shown : `${shown}  ${clip(about, room)}`
  }
}

/** `@donna`, or `anna` for an operator with a name. */
const whoOf = (actor: string, { person }: EventView['data']): unknown => person ?? actor

/** `task submitted → working`, `message sent` */
function whatOf({ type, data }: EventView): string {
  if (type === 'task.state_changed') return `task ${plain(data.previousState ?? 'new')} → ${plain(data.newState)}`
  return plain(type).replace(/[._]/g, ' ')
}

function aboutOf(io: Pick<Io, 'columns'>, { taskId, data }: EventView, subject: unknown): string {
  const known = names.map((name) => (name === 'taskId' ? (taskId ?? data.taskId) : data[name]))
  // The mail that begins a task ends as its id does.
  const [first, ...others] = new Set(known.filter((value) => typeof value === 'string').map((one) => idText(io, one)))
  const gate = (['nudges', 'restarts'] as const).flatMap((act) => (data[act] ? [`${act} ${plain(data[act])}`] : []))
  const said = [data.reason, data.detail, data.error]
    .filter((value) => typeof value === 'string')
    .map((value) => plain(value))
  const all = [
    ...(first === undefined ? [] : [first]),
    ...(typeof subject === 'string' && subject !== '' ? [`"${clip(plain(subject), subjectMax(io))}"`] : []),
    ...others,
    ...gate,
    ...(said.length > 0 ? [`(${said.join(': ')})`] : []),
  ]
  return all.length > 0 ? all.join(' ') : restText(data)
}

/** Of a long subject the beginning is enough on a terminal, so that what follows is seen. */
const subjectMax = ({ columns }: Pick<Io, 'columns'>): number => (columns === undefined ? Number.POSITIVE_INFINITY : 30)

const idText = ({ columns }: Pick<Io, 'columns'>, value: string): string =>
  columns === undefined ? plain(value) : endOfId(plain(value))

/** Of an event that names none of these. */
function restText(data: EventView['data']): string {
  const pairs = Object.entries(data).filter(([, value]) => value !== null)
  return pairs.map(([name, value]) => `${name}=${plain(value)}`).join(' ')
}
