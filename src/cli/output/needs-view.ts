import type { Io } from '../../client/io.ts'
import type { AnswerOf, NeedView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { table } from './table.ts'
import { when } from './when.ts'

/** What waits, and below it a command for each kind that is there. */
export function needsText(io: Io, { needs, more }: AnswerOf<'GET /v1/needs'>): string {
  const list = table(
    io,
    ['KIND', 'AGENT', 'SINCE', 'ID', 'TEXT'],
    needs.map((need) => [need.kind, need.agent, when(io, need.since), idOf(need), plain(need.text).split('\n')[0]]),
    'Nothing waits for you.',
  )
  const first = new Map([...needs].reverse().map((need) => [need.kind, need]))
  const hints = [...first.values()].map(hintOf).filter(Boolean)
  return list + (more ? 'There are more.\n' : '') + (hints.length === 0 ? '' : `\n${hints.join('\n')}\n`)
}

const idOf = ({ taskId, messageId, subscriptionId, sessionId }: NeedView): string | undefined =>
  taskId ?? messageId ?? subscriptionId ?? sessionId

/** The command that answers a need of this kind. */
function hintOf({ kind, agent, ...need }: NeedView): string {
  const id = plain(idOf({ kind, agent, ...need }))
  const hints: Readonly<Record<NeedView['kind'], string>> = {
    input: `Answer a task:  rouse answer ${id} "…"`,
    auth: `Say that it is done:  rouse answer ${id} "…"`,
    approval: `Approve where the harness of ${plain(agent)} runs.`,
    mail: `Reply to mail:  rouse reply ${id} "…"`,
    degraded: `Have a subscription send again:  rouse sub update ${id} --status active`,
    retrying: `Test a receiver:  rouse sub test ${id}`,
    gate: `Look at the gate:  rouse gate${agent === null ? '' : ` ${plain(agent)}`}`,
    parked: `End a park:  rouse unpark ${plain(agent)}`,
    late: `Look at a late task:  rouse task show ${id}`,
  }
  return hints[kind]
}
