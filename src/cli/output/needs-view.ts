import type { Io } from '../../client/io.ts'
import type { AnswerOf, NeedView } from '../../client/route-types.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { table } from './table.ts'
import { when } from './when.ts'

type Needs = AnswerOf<'GET /v1/needs'>
type Group = Needs['groups'][number]

const many: Readonly<Partial<Record<NeedView['kind'], string>>> = { mail: 'messages', late: 'tasks', key: 'keys' }

/**
 * The needs, the most urgent first, and below them a command for each kind that is there. Mail and what is late have a line for each agent.
 * `all`: also those that were put off. `each`: a line for each need.
 */
export function needsText(io: Io, answer: Needs, { all = false, each = false } = {}): string {
  const listed = answer.needs.filter(({ snoozedUntil }) => all || snoozedUntil === undefined)
  const off = answer.needs.filter(({ snoozedUntil }) => snoozedUntil !== undefined).length
  const isAlone = ({ kind }: Pick<NeedView, 'kind'>) => each || many[kind] === undefined
  const alone = listed
    .filter((need) => isAlone(need) || need.snoozedUntil !== undefined)
    .map((need) => [need.kind, need.agent, when(io, need.since), idOf(need), textOf(io, need)])
  const grouped = answer.groups
    .filter((group) => !isAlone(group))
    .map((group) => {
      const first = listed.find(
        ({ kind, agent, snoozedUntil }) => kind === group.kind && agent === group.agent && snoozedUntil === undefined,
      )
      const text = first ? textOf(io, first) : ''
      const counted =
        group.count === 1 ? text : `${countOf(group)} ${many[group.kind]}${text && `, the first: ${text}`}`
      return [group.kind, group.agent, when(io, group.since), first ? idOf(first) : '', counted]
    })
  const list = table(io, ['KIND', 'AGENT', 'SINCE', 'ID', 'TEXT'], [...alone, ...grouped], 'Nothing waits for you.')
  const counts = countsText(answer)
  const first = new Map([...listed].reverse().map((need) => [need.kind, need]))
  const hints = answer.needs.flatMap(({ kind }) => {
    const need = first.get(kind)
    first.delete(kind)
    return (need && hintOf(need)) || []
  })
  const folded = answer.folded.filter(isAlone).map(restOf)
  const more = answer.groups.find((group) => !isAlone(group) && group.count > 1 && group.agent !== null)
  const rest = [
    ...folded,
    more ? `All of an agent: rouse needs --agent ${plain(more.agent)}\n` : '',
    answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : '',
    !all && off > 0 ? `Put off: ${off}. rouse needs --all\n` : '',
  ]
  return (counts && `${counts}\n\n`) + list + rest.join('') + (hints.length === 0 ? '' : `\n${hints.join('\n')}\n`)
}

/** How many there are of each urgency, the most urgent first: `Stops work: 1. Late: 1,000+.` Empty: nothing waits. */
export function countsText({ counts, countsAtLeast }: Pick<Needs, 'counts' | 'countsAtLeast'>): string {
  const names = { stops: 'Stops work', wakes: 'Wakes', late: 'Late', mail: 'Mail' } as const
  const there = (Object.keys(names) as (keyof typeof names)[]).filter((urgency) => counts[urgency] > 0)
  return there
    .map((one) => `${names[one]}: ${countOf({ count: counts[one], atLeast: countsAtLeast.includes(one) })}.`)
    .join(' ')
}

const countOf = ({ count, atLeast }: Pick<Group, 'count' | 'atLeast'>) =>
  `${count.toLocaleString('en')}${atLeast ? '+' : ''}`

function restOf(folded: Needs['folded'][number]): string {
  const { kind, agent } = folded
  return `and ${countOf(folded)} more (${kind}) of ${plain(agent)}: rouse needs --agent ${plain(agent)}\n`
}

/** The question of a task, after the subject of the task. A command of an approval is one line. */
function textOf(io: Io, { text, subject, approvalId, snoozedUntil }: NeedView): string {
  const [line = ''] = approvalId === undefined ? plain(text, 'lines').split('\n') : [plain(text)]
  const about = clip(plain(subject ?? ''), 60)
  const first = about === '' || line.startsWith(about) ? line : `${about}: ${line}`
  return snoozedUntil === undefined ? first : `[put off, ${when(io, snoozedUntil)}] ${first}`
}

const idOf = ({ id, taskId, messageId, subscriptionId, approvalId, sessionId, keyId }: NeedView): string =>
  taskId ?? messageId ?? keyId ?? subscriptionId ?? approvalId ?? sessionId ?? id

/** The command that answers a need of this kind. */
function hintOf(need: NeedView): string {
  const { kind, agent } = need
  const id = plain(idOf(need))
  const hints: Readonly<Record<NeedView['kind'], string>> = {
    input: `Answer a task:  rouse answer ${id} "…"`,
    auth: `Say that it is done:  rouse answer ${id} "…"`,
    approval:
      need.approvalId === undefined
        ? `Approve where the harness of ${plain(agent)} runs.`
        : `Read what is asked, and decide:  rouse approve ${id}`,
    mail: `Reply to mail:  rouse reply ${id} "…"\nPut mail away:  rouse mark ${id} resolved`,
    degraded: `Have a subscription send again:  rouse sub update ${id} --status active`,
    failing: `Test a receiver:  rouse sub test ${id}`,
    retrying: `Test a receiver:  rouse sub test ${id}`,
    gate: `Look at the gate:  rouse gate${agent === null ? '' : ` ${plain(agent)}`}`,
    parked: `End a park:  rouse unpark ${plain(agent)}`,
    capped: `Change a cap:  rouse gate ${plain(agent)}`,
    late: `Look at a late task:  rouse task show ${id}`,
    key: `Renew a key:  ${
      agent === null
        ? `rouse operator key add, then rouse operator key rm ${id}`
        : `rouse agent key add ${plain(agent)}, then rouse agent key rm ${plain(agent)} ${id} --keep`
    }`,
  }
  return hints[kind]
}
