import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { sizeLimits } from '../limits.ts'
import { int, json, type NounOf, nullable, text, word } from '../storage/columns.ts'
import { inputHashOf } from '../words/approvals.ts'

export const approvalKinds = ['permission', 'question'] as const
type ApprovalKind = (typeof approvalKinds)[number]
/** `once`: the step may be done, this time. `deny`: it may not. `answer`: the answer to a question. */
export const approvalAnswers = ['once', 'deny', 'answer'] as const
type ApprovalAnswer = (typeof approvalAnswers)[number]
/** The end of an answer in the harness: it took it, or somebody had answered there before. */
export const approvalOutcomes = ['taken', 'late'] as const
type ApprovalOutcome = (typeof approvalOutcomes)[number]

/** The states of an approval, and those that follow each. One that is closed stays as it is. */
export const approvalStates = {
  open: ['answered', 'answered_there', 'expired', 'withdrawn'],
  answered: [],
  answered_there: [],
  expired: [],
  withdrawn: [],
} as const satisfies Record<string, readonly string[]>
export type ApprovalState = keyof typeof approvalStates
export const approvalStateNames = Object.keys(approvalStates) as ApprovalState[]

export const approvalFields = {
  id: text,
  projectId: text,
  agentId: text,
  /** The live session of the agent when it was asked; null: there was none. */
  sessionId: nullable(text),
  /** One request of the harness. */
  nonce: text,
  harness: text,
  conversationId: text,
  kind: word<ApprovalKind>(),
  tool: text,
  /** Whole and exact; null: it is too large to be approved from elsewhere. */
  input: nullable(json<JsonObject>()),
  /** Of the input as JSON, in bytes. */
  inputSize: int,
  inputHash: text,
  /** The words of the model. */
  reason: nullable(text),
  cwd: nullable(text),
  mode: nullable(text),
  askedAt: int,
  expiresAt: int,
  state: word<ApprovalState>(),
  closedAt: nullable(int),
  /** null: no person has decided here. */
  answer: nullable(word<ApprovalAnswer>()),
  message: nullable(text),
  /** The answers by question. */
  answers: nullable(json<Readonly<Record<string, string>>>()),
  /** The name of the person. */
  decidedBy: nullable(text),
  outcome: nullable(word<ApprovalOutcome>()),
}
/** A request of a harness to a person, and the answer. Instants in ms since the epoch. */
export type Approval = NounOf<typeof approvalFields>

/** The request that an input is part of: the same command asked elsewhere is another one. */
type Asked = Pick<Approval, 'harness' | 'conversationId' | 'kind' | 'tool'> & { readonly input: JsonObject }

/** The input as it is kept, with its size and the hash that names all of it. Pure. */
export function keptInput(asked: Asked) {
  const { input } = asked
  const inputSize = Buffer.byteLength(JSON.stringify(input))
  const inputHash = inputHashOf(asked)
  return { input: inputSize > sizeLimits.approvalInput.max ? null : input, inputSize, inputHash }
}

/** The state at an instant: the end of an open one needs no writer. Pure. */
export function stateAt({ state, expiresAt }: Pick<Approval, 'state' | 'expiresAt'>, now: number): ApprovalState {
  return state === 'open' && expiresAt <= now ? 'expired' : state
}

/** The answers that are offered. Of an input that nobody can see here, none. Pure. */
export function offeredAnswers({ kind, input }: Pick<Approval, 'kind' | 'input'>): readonly ApprovalAnswer[] {
  if (input === null) return []
  return kind === 'question' ? ['answer', 'deny'] : ['once', 'deny']
}

/** The texts of the questions in an input; undefined: it has none that can be answered. Pure. */
export function questionsIn(input: JsonObject): string[] | undefined {
  if (!Array.isArray(input.questions) || input.questions.length === 0) return undefined
  const questions: readonly unknown[] = input.questions
  return questions.every(isQuestion) ? questions.map(({ question }) => question) : undefined
}

/** The longest text of a question, in characters: an answer names it. */
const questionMax = 2_000

function isQuestion(one: unknown): one is JsonObject & { readonly question: string } {
  if (!isJsonObject(one)) return false
  const { question, header = '', options = [] } = one
  if (typeof question !== 'string' || question.length > questionMax || typeof header !== 'string') return false
  return Array.isArray(options) && options.every((option) => isJsonObject(option) && typeof option.label === 'string')
}

/** The decision of a person, on what was shown. */
export interface Decision {
  readonly answer: ApprovalAnswer
  readonly message?: string | undefined
  readonly answers?: Readonly<Record<string, string>> | undefined
  /** The hash of the input that was shown. */
  readonly inputHash: string
}

/** Why a decision does not count: it is too late, something else was shown, or a field says what is not offered. */
type Flaw = 'closed' | 'changed' | { readonly field: keyof Decision; readonly why: string }

/** Returns why a decision on an approval does not count; undefined: it does. Pure. */
export function flawOf(
  approval: Approval,
  { answer, message, answers, inputHash }: Decision,
  now: number,
): Flaw | undefined {
  if (stateAt(approval, now) !== 'open') return 'closed'
  if (inputHash !== approval.inputHash) return 'changed'
  const invalid = (field: keyof Decision, why: string) => ({ field, why })
  const offered = offeredAnswers(approval)
  if (offered.length === 0)
    return invalid('answer', 'its input is too large to be approved from here. Answer in the harness')
  if (!offered.includes(answer)) return invalid('answer', `is ${offered.join(' or ')} for a ${approval.kind}`)
  if (message !== undefined && answer !== 'deny') return invalid('message', 'goes with the answer deny')
  if ((answers !== undefined) !== (answer === 'answer'))
    return invalid('answers', 'goes with the answer "answer", and only with it')
  const asked = new Set(questionsIn(approval.input!))
  const given = Object.keys(answers ?? {})
  if (answers && (given.length !== asked.size || !given.every((one) => asked.has(one)))) {
    return invalid('answers', 'has one answer for each question, by the text of the question')
  }
  return undefined
}
