import { type Approval, type ApprovalState, offeredAnswers, stateAt } from '../../../approvals/approval.ts'
import { instant } from '../instant.ts'

/** A request of a harness to a person, and the answer. Instants are ISO 8601. */
export interface ApprovalView {
  readonly approvalId: string
  /** `@donna` */
  readonly agent: string
  readonly harness: string
  readonly conversationId: string
  /** The live session of the agent when it was asked. */
  readonly sessionId: string | null
  readonly kind: Approval['kind']
  readonly tool: string
  /** Whole and exact; null: it is too large to be approved from here. */
  readonly input: Approval['input']
  /** Of the input as JSON, in bytes. */
  readonly inputSize: number
  /** SHA-256 of what it asks, in hexadecimal: a decision names it. */
  readonly inputHash: string
  /** The words of the model. */
  readonly reason: string | null
  readonly cwd: string | null
  readonly mode: string | null
  /** The answers that it takes from here. */
  readonly answers: readonly ('once' | 'deny' | 'answer')[]
  readonly askedAt: string
  readonly expiresAt: string
  readonly state: ApprovalState
  /** null: no person has decided here. */
  readonly decision: PersonDecisionView | null
  /** What the harness did with the decision, as its adapter reports it. */
  readonly outcome: Approval['outcome']
}

interface PersonDecisionView {
  readonly answer: 'once' | 'deny' | 'answer'
  readonly message: string | null
  /** The answers by question. */
  readonly answers: Readonly<Record<string, string>> | null
  /** The name of the person. */
  readonly by: string
  readonly at: string
}

export function approvalView(approval: Approval, agent: string, now: number): ApprovalView {
  const { id: approvalId, harness, conversationId, sessionId, kind, tool, input, inputSize, inputHash } = approval
  const { reason, cwd, mode, askedAt, expiresAt, outcome } = approval
  return {
    approvalId,
    agent,
    harness,
    conversationId,
    sessionId,
    kind,
    tool,
    input,
    inputSize,
    inputHash,
    reason,
    cwd,
    mode,
    answers: offeredAnswers(approval),
    askedAt: instant(askedAt),
    expiresAt: instant(expiresAt),
    state: stateAt(approval, now),
    decision: decisionView(approval),
    outcome,
  }
}

function decisionView({ answer, message, answers, decidedBy, closedAt }: Approval): PersonDecisionView | null {
  return answer === null ? null : { answer, message, answers, by: decidedBy!, at: instant(closedAt!) }
}
