import { plain } from './show.js'
import { subjectOf } from './subjects.js'

/** The groups of needs, the most urgent first. */
export const urgencies = [
  ['stops', 'Stops work'],
  ['wakes', 'Wakes that fail'],
  ['late', 'Late'],
  ['mail', 'Mail'],
]

/** Each kind of need: how urgent it is, its word and tone, and a title where it has no subject of its own. */
const kinds = {
  approval: ['stops', 'Approve', 'ask'],
  input: ['stops', 'Question', 'ask'],
  auth: ['stops', 'Sign-in', 'ask'],
  gate: ['stops', 'Gate', 'bad', (agent) => `Recovery has stopped${agent ? ` for ${agent}` : ''}`],
  degraded: ['wakes', 'Gone', 'bad', (agent) => `${agent} is no longer woken`],
  failing: ['wakes', 'Fails', 'bad', (agent) => `${agent} was not woken`],
  retrying: ['wakes', 'Retry', 'busy', (agent) => `${agent} cannot be reached`],
  parked: ['wakes', 'Parked', 'park', (agent) => `${agent} is at a limit`],
  capped: ['wakes', 'Cap', 'park', (agent) => `${agent} has had its turns`],
  late: ['late', 'Late', '', undefined, (agent, count) => `${agent} has not taken up ${count} tasks`],
  key: ['late', 'Key', 'ask', () => 'A key ends soon', (_, count) => `${count} keys end soon`],
  mail: ['mail', 'Mail', '', undefined, (agent, count) => `${agent} sent ${count} messages`],
}
const unknown = ['late', 'Other', '']

export const urgencyOf = ({ kind, urgency }) => urgency ?? (kinds[kind] ?? unknown)[0]
export const markOf = (kind) => (kinds[kind] ?? unknown).slice(1, 3)

const firstLine = (text = '') => plain(text).trim().split('\n')[0]
/** What a need is about, in one line. */
export function titleOf(need) {
  const { kind, agent, taskId, text } = need
  const own = (kinds[kind] ?? unknown)[3]?.(agent)
  return own ?? (need.subject || subjectOf(taskId) || firstLine(text) || 'No subject')
}

/** The rest of the text beside its title. */
function noteOf(need, title) {
  const text = plain(need.text)
  const rest = text.startsWith(title) ? text.slice(title.length) : text
  return [need.agent, rest.replace(/\s+/g, ' ').trim().slice(0, 200)].filter(Boolean).join(' · ')
}

/** An answer of GET /v1/needs as lines: one for each need, one for all late tasks, keys or mail of an agent. Pure. */
export function linesOf({ needs, groups, folded = [] }) {
  const isGrouped = (kind) => kinds[kind]?.[4] !== undefined
  const lines = []
  const open = new Map()
  for (const need of needs) {
    const { kind, agent, snoozedUntil } = need
    const name = `${kind}:${agent}`
    if (!isGrouped(kind) || snoozedUntil) {
      lines.push(lineOf(need))
      continue
    }
    const group = open.get(name)
    if (group) group.needs.push(need)
    else {
      open.set(name, { ...lineOf(need), needs: [need] })
      lines.push(open.get(name))
    }
  }
  for (const [name, group] of open) Object.assign(group, grouped(name, group, groups, folded))
  const more = folded.filter(({ kind }) => !isGrouped(kind)).map((one) => restOf(one))
  const rank = ({ urgency }) => urgencies.findIndex(([one]) => one === urgency)
  return [...lines, ...more].sort((one, other) => rank(one) - rank(other))
}

function lineOf(need) {
  const title = titleOf(need)
  const { id, kind, agent, since, snoozedUntil } = need
  return {
    id,
    kind,
    agent,
    since,
    title,
    note: noteOf(need, title),
    urgency: urgencyOf(need),
    count: 1,
    needs: [need],
    snoozedUntil,
  }
}

function grouped(id, { kind, agent, needs, title, since }, groups, folded) {
  const isOf = (one) => one.kind === kind && one.agent === agent
  const listed = groups?.find(isOf)
  const rest = folded.find(isOf)
  const count = Math.max(listed?.count ?? needs.length + (rest?.count ?? 0), needs.length)
  const atLeast = listed?.atLeast ?? rest?.atLeast ?? false
  if (count === 1) return {}
  const words = `${count.toLocaleString('en')}${atLeast ? '+' : ''}`
  const note = [...new Set(needs.map(titleOf))].join(' · ')
  return {
    id,
    count,
    atLeast,
    title: kinds[kind][4](agent, words),
    note,
    since: listed?.since ?? since,
    isGroup: true,
    first: title,
  }
}

/** What is not listed of an agent and kind. */
function restOf({ kind, agent, count, atLeast }) {
  const title = `${count.toLocaleString('en')}${atLeast ? '+' : ''} more of ${agent}`
  return {
    id: `${kind}:${agent}`,
    kind,
    agent,
    title,
    note: '',
    urgency: urgencyOf({ kind }),
    count,
    needs: [],
    isGroup: true,
    isRest: true,
  }
}

/** How many there are of each urgency, those that were put off not counted: `{ stops: { count, atLeast } }`. */
export function countsOf({ needs, total = {}, atLeast = [], counts, countsAtLeast = [] }) {
  const found = Object.fromEntries(
    urgencies.map(([name]) => [name, { count: counts?.[name] ?? 0, atLeast: countsAtLeast.includes(name) }]),
  )
  if (counts) return found
  for (const [kind, count] of Object.entries(total)) {
    const one = found[urgencyOf({ kind })]
    one.count += count
    one.atLeast ||= atLeast.includes(kind)
  }
  for (const need of needs) if (need.snoozedUntil) found[urgencyOf(need)].count -= 1
  return found
}

/** `12`, `1,000+` */
export const counts = ({ count, atLeast }) => `${count.toLocaleString('en')}${atLeast ? '+' : ''}`
