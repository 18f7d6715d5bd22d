import { plain } from './show.js'
import { subjectOf } from './subjects.js'

/** The groups of needs, the most urgent first. */
export const urgencies = [
  ['stops', 'Stops work'],
  ['wakes', 'Wakes that fail'],
  ['late', 'Late'],
  ['mail', 'Mail'],
]

/** Of each kind of need: its word, its tone, its title where it has no subject, and the title of a line that stands for all of an agent. */
const kinds = {
  approval: ['Approve', 'ask', askedOf],
  input: ['Question', 'ask'],
  auth: ['Sign-in', 'ask'],
  gate: ['Gate', 'bad', (agent) => `Recovery has stopped${agent ? ` for ${agent}` : ''}`],
  degraded: ['Gone', 'bad', (agent) => `${agent} is no longer woken`],
  failing: ['Fails', 'bad', (agent) => `${agent} was not woken`],
  retrying: ['Retry', 'busy', (agent) => `${agent} cannot be reached`],
  parked: ['Parked', 'park', (agent) => `${agent} is at a limit`],
  capped: ['Cap', 'park', (agent) => `${agent} has had its turns`],
  late: ['Late', '', undefined, (agent, count) => `${agent} has not taken up ${count} tasks`],
  key: [
    'Key',
    'ask',
    (agent) => `A key${agent ? ` of ${agent}` : ''} ends`,
    (agent, count) => `${count} keys${agent ? ` of ${agent}` : ''} end`,
  ],
  mail: ['Mail', '', undefined, (agent, count) => `${agent} sent ${count} messages`],
}
/** The request of a harness: the first question, or its tool and the beginning of its command. */
function askedOf(agent, { approvalId, approvalKind, text }) {
  if (!approvalId) return `${agent} waits for an approval`
  const [tool, first = ''] = plain(text).split('\n')
  return approvalKind === 'question' && first ? first : `${tool}: ${first}`
}

const other = ['Other', '']

export const markOf = (kind) => (kinds[kind] ?? other).slice(0, 2)

/** The matter of a need, in one line. */
export function titleOf(need) {
  const { kind, agent, taskId, text } = need
  const own = (kinds[kind] ?? other)[2]?.(agent, need)
  return own || need.subject || subjectOf(taskId) || plain(text).trim().split('\n')[0] || 'No subject'
}

/** A text without the title that it begins with. */
export const bodyOf = (text, title) => (text.startsWith(title) ? text.slice(title.length).trimStart() : text)

/** An answer of GET /v1/needs as lines: one for each need, one for all late tasks, keys or mail of an agent. Those that were put off come last. Pure. */
export function linesOf({ needs, groups }) {
  const listed = new Map()
  const off = []
  for (const need of needs) {
    const name = nameOf(need)
    if (need.snoozedUntil) off.push(lineOf(need))
    else if (listed.has(name)) listed.get(name).push(need)
    else listed.set(name, [need])
  }
  const lines = groups.flatMap((group) => {
    const some = listed.get(nameOf(group)) ?? []
    if (kinds[group.kind]?.[3] && group.count > 1) return [groupLine(group, some)]
    return [...some.map(lineOf), ...(group.count > some.length ? [restLine(group, some)] : [])]
  })
  return [...lines, ...off]
}

/** The id of a line that stands for all of an agent and kind. */
const nameOf = ({ kind, agent }) => `${kind}:${agent}`

/** A need as a line of its own. */
export function lineOf(need) {
  const { id, kind, agent, since, urgency, snoozedUntil } = need
  const title = titleOf(need)
  const rest = bodyOf(need.approvalId ? plain(need.text).replace('\n', ': ') : plain(need.text), title).slice(0, 200)
  const note = [agent, rest === title ? '' : rest].filter(Boolean).join(' · ')
  return { id, name: nameOf(need), kind, agent, since, urgency, snoozedUntil, title, note, count: 1, needs: [need] }
}

function groupLine(group, needs) {
  const title = kinds[group.kind][3](group.agent, counts(group))
  return {
    ...group,
    id: nameOf(group),
    title,
    note: [...new Set(needs.map(titleOf))].join(' · '),
    needs,
    isGroup: true,
  }
}

/** The needs of an agent and kind beyond the list, which has five. `listed`: the ids of those. */
function restLine(group, needs) {
  const count = group.count - needs.length
  return {
    ...group,
    id: nameOf(group),
    title: `${counts({ ...group, count })} more of ${group.agent}`,
    note: '',
    needs: [],
    listed: needs.map(({ id }) => id),
    isGroup: true,
  }
}

/** The number of needs of each urgency, those that were put off not counted: `{ stops: { count, atLeast } }`. */
export const countsOf = ({ counts: found, countsAtLeast }) =>
  Object.fromEntries(urgencies.map(([name]) => [name, { count: found[name], atLeast: countsAtLeast.includes(name) }]))

/** `12`, `1,000+` */
export const counts = ({ count, atLeast }) => `${count.toLocaleString('en')}${atLeast ? '+' : ''}`
