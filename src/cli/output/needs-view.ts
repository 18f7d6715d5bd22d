import type { Io } from '../../client/io.ts'
import type { AnswerOf, NeedView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { table } from './table.ts'
import { when } from './when.ts'

/** The needs, and below them a command for each kind that is there. `all`: also those that were put off. */
export function needsText(io: Io, answer: AnswerOf<'GET /v1/needs'>, all = false): string {
  const needs = answer.needs.filter(({ snoozedUntil }) => all || snoozedUntil === undefined)
  const off = answer.needs.length - needs.length
  const list = table(
    io,
    ['KIND', 'AGENT', 'SINCE', 'ID', 'TEXT'],
    needs.map((need) => [need.kind, need.agent, when(io, need.since), idOf(need), textOf(io, need)]),
    'Nothing waits for you.',
  )
  const first = new Map([...needs].reverse().map((need) => [need.kind, need]))
  const hints = [...first.values()].map(hintOf).filter(Boolean)
  const rest = [
    ...answer.folded.map(restOf),
    answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : '',
    off > 0 ? `Put off: ${off}. rouse needs --all\n` : '',
  ]
  return list + rest.join('') + (hints.length === 0 ? '' : `\n${hints.join('\n')}\n`)
}

function restOf({ kind, agent, count, atLeast }: AnswerOf<'GET /v1/needs'>['folded'][number]): string {
  const more = `${count.toLocaleString('en')}${atLeast ? '+' : ''} more (${kind})`
  return `and ${more} of ${plain(agent)}: rouse needs --agent ${plain(agent)}\n`
}

function textOf(io: Io, { text, approvalId, snoozedUntil }: NeedView): string {
  const [first = ''] = approvalId === undefined ? plain(text, 'lines').split('\n') : [plain(text)]
  return snoozedUntil === undefined ? first : `[put off, ${when(io, snoozedUntil)}] ${first}`
}

const idOf = ({ id, taskId, messageId, subscriptionId, approvalId, sessionId }: NeedView): string =>
  taskId ?? messageId ?? subscriptionId ?? approvalId ?? sessionId ?? id

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
  }
  return hints[kind]
}
