import { Problem } from '../errors.ts'
import { newUlid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import { operatorAudience } from '../log/event.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireRoom } from '../registry/callers/caller-limits.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import type { Reader } from '../storage/database.ts'
import { inputHashOf } from '../words/approvals.ts'
import { type Approval, approvalKinds, type Decision, flawOf, keptInput, questionsIn, stateAt } from './approval.ts'
import {
  countOpenOf,
  findApproval,
  findByNonce,
  insertApproval,
  listApprovals,
  listOpenOf,
  noteOutcome,
} from './approval-store.ts'
import { type ApprovalContext, closed, end } from './closing.ts'

/** The newest answers that the end of a step may be about. */
const answeredMax = 20

/** A request of a harness, as its adapter sends it. */
interface ApprovalRequest extends Pick<Approval, 'nonce' | 'harness' | 'conversationId' | 'kind' | 'tool'> {
  readonly input: JsonObject
  readonly reason?: string | undefined
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
  readonly expiresInSeconds: number
}

/**
 * Asks a person, for an agent. Its nonce stands for one request: the same one again is the same approval. Errors: `approval-changed` for a nonce
 * that stands for another request, `invalid-request` for questions that cannot be answered, `limit-exceeded`.
 */
export async function askApproval(
  { db, append }: ApprovalContext,
  caller: Caller,
  { expiresInSeconds, ...request }: ApprovalRequest,
): Promise<{ readonly approval: Approval; readonly isNew: boolean }> {
  const kept = keptInput(request)
  if (request.kind === 'question' && kept.input && !questionsIn(kept.input)) {
    throw new Problem('invalid-request', {
      field: 'input',
      detail:
        'input: a question has a list of questions, each with a text of 2,000 characters at most, and options with a label each, if it has some.',
    })
  }
  return db.transaction(async (tx) => {
    await lockAgent(tx, caller.id)
    await requireLiveKey(tx, caller)
    const known = await findByNonce(tx, caller.id, request.nonce)
    if (known?.inputHash === kept.inputHash) return { approval: known, isNew: false }
    if (known) {
      throw new Problem('approval-changed', {
        field: 'nonce',
        detail: `nonce: it stands for another request, ${known.id}.`,
      })
    }
    requireRoom(caller, 'approvals', await countOpenOf(tx, caller.id, tx.now), 'Close those that nobody waits for.')
    const { reason = null, cwd = null, mode = null, ...asked } = request
    const session = await newestLiveSession(tx, caller.id)
    const approval: Approval = {
      ...asked,
      ...kept,
      id: `APPROVAL:${newUlid(tx.now)}`,
      projectId: caller.projectId,
      agentId: caller.id,
      sessionId: session?.id ?? null,
      reason,
      cwd,
      mode,
      askedAt: tx.now,
      expiresAt: tx.now + expiresInSeconds * 1000,
      state: 'open',
      closedAt: null,
      answer: null,
      message: null,
      answers: null,
      decidedBy: null,
      outcome: null,
    }
    await insertApproval(tx, approval)
    const { id: approvalId, kind, tool, harness } = approval
    const data = { approvalId, agent: caller.identity, kind, tool, harness }
    const audience = [operatorAudience, caller.id]
    await append(tx, caller.projectId, [
      { type: 'approval.asked', actor: caller.identity, actorId: caller.id, audience, data },
    ])
    return { approval, isNew: true }
  })
}

/**
 * Decides for a person, on what was shown. One decision counts: the first. Errors: `not-found`; `approval-answered` for one that is not open;
 * `approval-changed` for another hash; `invalid-request`.
 */
export function decideApproval(
  context: ApprovalContext,
  caller: Caller,
  id: string,
  decision: Decision,
): Promise<Approval> {
  return context.db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    const found = await requireApproval(tx, caller, id)
    const flaw = flawOf(found, decision, tx.now)
    if (flaw === 'closed') throw closed(found, tx.now)
    if (flaw === 'changed') {
      throw new Problem('approval-changed', {
        field: 'inputHash',
        detail: 'inputHash: this is not what it asks. Read it again.',
      })
    }
    if (flaw) throw new Problem('invalid-request', { field: flaw.field, detail: `${flaw.field}: ${flaw.why}.` })
    const { answer, message = null, answers = null } = decision
    const decidedBy = caller.name ?? caller.identity
    return end(context, tx, found, caller, { state: 'answered', answer, message, answers, decidedBy })
  })
}

/**
 * Closes one for the program that asked: nobody waits for it any more, or its harness has the answer of somebody else. The same end again changes
 * nothing. Errors: `not-found`, `approval-answered`.
 */
export function endApproval(
  context: ApprovalContext,
  caller: Caller,
  id: string,
  state: 'withdrawn' | 'answered_there',
): Promise<Approval> {
  return context.db.transaction(async (tx) => {
    const found = await requireApproval(tx, caller, id)
    if (found.state === state) return found
    if (stateAt(found, tx.now) !== 'open') throw closed(found, tx.now)
    return end(context, tx, found, caller, { state })
  })
}

/** Notes what the harness did with the answer. Errors: `not-found`, `approval-answered` for one without an answer or with another outcome. */
export function noteTaken(
  { db }: ApprovalContext,
  caller: Caller,
  id: string,
  outcome: 'taken' | 'late',
): Promise<Approval> {
  return db.transaction(async (tx) => {
    const found = await requireApproval(tx, caller, id)
    if (found.outcome === outcome) return found
    const noted = await noteOutcome(tx, id, outcome)
    if (noted) return noted
    throw stateAt(found, tx.now) === 'open'
      ? new Problem('invalid-request', { field: 'outcome', detail: 'outcome: nobody has answered yet. Send a state.' })
      : closed(found, tx.now)
  })
}

/**
 * Closes those of a conversation that are open: their harness goes on. Where a tool and its input are named, one that asks this; none where a person
 * has allowed it, and nobody has noted yet what became of that. Returns how many.
 */
export function settleApprovals(
  context: ApprovalContext,
  caller: Caller,
  {
    harness,
    conversationId,
    tool,
    input,
  }: Pick<Approval, 'harness' | 'conversationId'> & {
    readonly tool?: string | undefined
    readonly input?: JsonObject | undefined
  },
): Promise<number> {
  return context.db.transaction(async (tx) => {
    // Once for all of them: an input may be large, and many may be open.
    const hashes =
      tool && input && approvalKinds.map((kind) => inputHashOf({ harness, conversationId, kind, tool, input }))
    const isMeant = (one: Approval): boolean =>
      one.harness === harness && one.conversationId === conversationId && (hashes?.includes(one.inputHash) ?? true)
    const of = { projectId: caller.projectId, agentId: caller.id }
    const answered = { state: 'answered', conversationId, now: tx.now } as const
    // Of two requests that are the same, the answered one is what has gone on.
    const decided =
      hashes &&
      (await listApprovals(tx, of, answered, { before: '', limit: answeredMax })).findLast(
        (one) => one.answer === 'once' && one.outcome === null && isMeant(one),
      )
    if (decided) {
      await noteOutcome(tx, decided.id, 'taken')
      return 0
    }
    const open = (await listOpenOf(tx, caller.id, tx.now)).filter(isMeant)
    const meant = hashes ? open.slice(0, 1) : open
    for (const one of meant) await end(context, tx, one, caller, { state: 'answered_there' })
    return meant.length
  })
}

/** Finds one that the caller may see. Errors: `not-found`. */
export async function requireApproval(
  db: Reader,
  { kind, id: callerId, projectId }: Caller,
  id: string,
): Promise<Approval> {
  const found = await findApproval(db, id)
  const isSeen = found?.projectId === projectId && (kind === 'operator' || found.agentId === callerId)
  if (found && isSeen) return found
  throw new Problem('not-found', { detail: 'There is no such approval.' })
}
