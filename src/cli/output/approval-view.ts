import type { Io } from '../../client/io.ts'
import type { ApprovalView } from '../../client/route-types.ts'
import { exact, plain } from '../../client/terminal-text.ts'
import { isJsonObject } from '../../lib/json.ts'
import { exactRows, lineRows } from './exact-rows.ts'
import { fields, table } from './table.ts'
import { when, whenLong } from './when.ts'

export function approvalTable(io: Io, approvals: readonly ApprovalView[]): string {
  const rows = approvals.map((one) => [
    one.approvalId,
    one.agent,
    one.kind,
    one.tool,
    when(io, one.askedAt),
    when(io, one.expiresAt),
    firstLineOf(one),
  ])
  const headings = ['APPROVAL', 'AGENT', 'KIND', 'TOOL', 'ASKED', 'EXPIRES', 'WHAT']
  const hint = rows.length > 0 ? 'Read it whole, and decide:  rouse approve <approval>\n' : ''
  return table(io, headings, rows, 'No harness asks anything here.', ['KIND', 'EXPIRES']) + hint
}

/** All that a person has to know to decide: who asks, where, since when, and exactly what. Each line of the input is marked as one. */
export function approvalText(io: Io, approval: ApprovalView): string {
  const { approvalId, agent, harness, tool, cwd, mode, reason, askedAt, expiresAt, state, decision, input } = approval
  const head = fields({
    approval: approvalId,
    agent,
    harness,
    tool: exact(tool),
    in: cwd === null ? undefined : exact(cwd),
    mode,
    asked: whenLong(io, askedAt),
    expires: whenLong(io, expiresAt),
    reason,
    state: state === 'open' ? undefined : state,
    decision: decision && `${decision.answer}, by ${decision.by}`,
  })
  const about = head
    .trimEnd()
    .split('\n')
    .map((line) => lineRows(io, line, ofHeading))
    .join('')
  if (input === null) return `${about}\nIt is too long to approve from here. Answer in the harness.\n`
  return `${about}\n${Object.entries(input)
    .map(([name, value]) => memberText(io, name, value))
    .join('')}`
}

/** A line of a text, and a line that is no part of one. A row that continues another one is marked. */
const ofText = { first: '│ ', next: '│…' }
const ofHeading = { first: '', next: '…' }
const plainWord = /^\w[\w-]*$/

function memberText(io: Io, name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const heading = plainWord.test(name) ? name : exact(JSON.stringify(name))
  return lineRows(io, `${heading}:`, ofHeading) + exactRows(io, text, ofText)
}

function firstLineOf({ input }: ApprovalView): string {
  if (input === null) return 'too long to approve from here'
  return plain(typeof input.command === 'string' ? input.command : input)
}

/** A question of a harness, with the labels of its answers. */
interface Question {
  readonly question: string
  readonly labels: readonly string[]
}

export function questionsOf({ input }: ApprovalView): Question[] {
  const listed = Array.isArray(input?.questions) ? input.questions.filter(isJsonObject) : []
  return listed.map(({ question, options }) => {
    const labels = (Array.isArray(options) ? options : []).map((one) =>
      isJsonObject(one) ? String(one.label) : String(one),
    )
    return { question: String(question), labels }
  })
}

export function questionText(io: Io, { question, labels }: Question): string {
  const list = labels.map((label, index) => lineRows(io, exact(label), { first: `  ${index + 1}  `, next: '  …  ' }))
  return `\n${exactRows(io, question, ofText)}${list.join('')}Number (several as 1,3), or your own words: `
}

/** The labels that numbers stand for; other words stay as they are. Pure. */
export function labelOf({ labels }: Question, typed: string): string {
  const numbers = typed.split(',').map((part) => Number(part.trim()))
  const chosen = numbers.map((number) => labels[number - 1])
  return chosen.every((label) => label !== undefined) ? chosen.join(', ') : typed
}
