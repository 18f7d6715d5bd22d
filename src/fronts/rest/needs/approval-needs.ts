import { type Approval, questionsIn } from '../../../approvals/approval.ts'
import { findApproval, listOpen, type OpenApproval } from '../../../approvals/approval-store.ts'
import { cutText } from '../../../lib/cut-text.ts'
import { identitiesOf } from '../../../registry/agents/identity.ts'
import { listAwaitingApproval } from '../../../registry/sessions/session-lists.ts'
import type { Reader } from '../../../storage/database.ts'
import { instant } from '../instant.ts'
import type { NeedFields } from './view.ts'
import { agentsMax, type NeedReader, textMax, type WaitingNeed, waitingOf } from './waiting.ts'

/** Reads what harnesses ask, and the sessions whose harness asks where it is not on record. */
export async function approvalNeeds({ db, caller, now }: NeedReader): Promise<WaitingNeed[]> {
  const { id, projectId } = caller
  const of = caller.kind === 'operator' ? { projectId } : { agentId: id }
  const [open, sessions] = await Promise.all([
    listOpen(db, of, now, agentsMax),
    listAwaitingApproval(db, of, agentsMax),
  ])
  const asking = new Set(open.map(({ agentId, sessionId }) => sessionId ?? agentId))
  const others = sessions.filter((session) => !asking.has(session.id) && !asking.has(session.agentId))
  const agentIds = [...open, ...others].map(({ agentId }) => agentId)
  const identity = await identitiesOf(db, [...new Set(agentIds)])
  const asked = open.map((one): WaitingNeed => {
    const agent = identity(one.agentId)
    const need = { kind: 'approval', agent, since: instant(one.askedAt), text: '', approvalId: one.id } as const
    return { ...waitingOf(need, agent, 1), load: () => loadText(db, need, one) }
  })
  // A report counts however old it is: a harness that waits for a person has nothing new to report.
  const reported = others.map(({ id: sessionId, agentId, presenceAt, lastSeenAt, surface }) => {
    const agent = identity(agentId)
    const since = instant(presenceAt ?? lastSeenAt)
    const text = `Its harness (${surface}) waits until a person approves its next step.`
    return waitingOf({ kind: 'approval', agent, since, text, sessionId }, agent, 1)
  })
  return [...asked, ...reported]
}

async function loadText(db: Reader, need: NeedFields, { id, expiresAt }: OpenApproval): Promise<NeedFields> {
  const found = await findApproval(db, id)
  if (!found) return need
  const { kind: approvalKind, sessionId, tool } = found
  const text = cutText(`${tool}\n${askedOf(found)}`, textMax)
  return { ...need, text, approvalKind, ...(sessionId === null ? {} : { sessionId }), until: instant(expiresAt) }
}

/** What it is about, as it begins: the questions, the command, or the input as JSON. */
function askedOf({ input }: Approval): string {
  if (input === null) return 'too long to approve from here: answer in the harness'
  if (typeof input.command === 'string') return input.command
  return questionsIn(input)?.join('\n') ?? JSON.stringify(input)
}
