import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { ApprovalView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { ownIds } from '../ids/own-ids.ts'
import { collect } from '../options/option-values.ts'
import { approvalTable, approvalText, labelOf, questionsOf, questionText } from '../output/approval-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface ApproveOptions {
  readonly answer?: string[]
  readonly hash?: string
}

/** `rouse approve`: what a harness asks, whole, and the answer of the person who reads it. */
export function registerApprove(program: Command, io: Io): void {
  clientCommand(program, 'approve [approval]', 'show what a harness asks, and allow it once', [
    'rouse approve                       # what is asked',
    'rouse approve 8XKZ4R7Q              # shows it, and asks',
    'rouse approve 8XKZ4R7Q --answer Postgres   # of a question, in the order of the questions',
    'rouse approve 8XKZ4R7Q --hash 5f70bf18…    # without a terminal: the inputHash of what was read',
  ])
    .option(
      '--answer <label>',
      'the answer to a question: a label, several as "A, C", or your own words; repeatable',
      collect,
    )
    .option('--hash <inputHash>', 'the hash of what you have read: it does not ask again')
    .action(async (given: string | undefined, { answer, hash }: ApproveOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const found = await oneOf(gateway, given)
      if ('approvals' in found) return print.result(found, () => approvalTable(io, found.approvals))
      if (!print.json) io.stdout(approvalText(io, found))
      const asking = { io, isJson: print.json, hash }
      if (found.kind === 'permission') {
        if (answer) throw new UsageError('--answer: this is no question. Leave it out.')
        const inputHash = await confirmed(asking, found, 'Allow once?')
        const decided = await decide(gateway, found, { answer: 'once', inputHash })
        return print.result(decided, () => 'Allowed once.\n')
      }
      if (print.json && !answer)
        throw new UsageError('--json asks nothing. Give --answer for each question, and --hash.')
      const answers = await answersTo(io, found, answer)
      const inputHash = answer ? await confirmed(asking, found, 'Answer that?') : found.inputHash
      const decided = await decide(gateway, found, { answer: 'answer', answers, inputHash })
      print.result(decided, () => 'Answered.\n')
    })
}

interface DenyOptions {
  readonly message?: string
  readonly hash?: string
}

/** `rouse deny`: the same with a no, and a sentence for the model. */
export function registerDeny(program: Command, io: Io): void {
  clientCommand(program, 'deny [approval]', 'show what a harness asks, and deny it', [
    'rouse deny 8XKZ4R7Q --message "Not on the main branch."',
  ])
    .option('--message <text>', 'a sentence for the model, which goes on')
    .option('--hash <inputHash>', 'the hash of what you have read: it does not ask again')
    .action(async (given: string | undefined, { message, hash }: DenyOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const found = await oneOf(gateway, given)
      if ('approvals' in found) return print.result(found, () => approvalTable(io, found.approvals))
      if (!print.json) io.stdout(approvalText(io, found))
      const inputHash = await confirmed({ io, isJson: print.json, hash }, found, 'Deny it?')
      const decided = await decide(gateway, found, { answer: 'deny', message, inputHash })
      print.result(decided, () => 'Denied.\n')
    })
}

/** The one that is named; without a name all that are open. Errors: `UsageError` for one that is not open. */
async function oneOf(gateway: GatewayClient, given: string | undefined) {
  if (given === undefined) return gateway.call('GET /v1/approvals', { query: { state: 'open' } })
  const id = await ownIds(gateway).approval(given)
  return gateway.call('GET /v1/approvals/:id', { params: { id } })
}

/** The asking of a person; with `--json` nothing is shown, so there is nothing to agree to. */
interface Asking {
  readonly io: Io
  readonly isJson: boolean
  readonly hash: string | undefined
}

/** The hash of what a person has read: shown here and agreed to, or read before and named. Errors: `UsageError`. */
async function confirmed({ io, isJson, hash }: Asking, { inputHash, approvalId }: ApprovalView, question: string) {
  if (hash !== undefined) return hash
  if (!io.ask || isJson) {
    throw new UsageError(
      `${isJson ? '--json asks nothing' : 'Nobody is at a terminal to answer'}. Give --hash with the inputHash of what you have read: rouse approve --json lists it. ${plain(approvalId)} stays open.`,
    )
  }
  if (/^y(es)?$/i.test((await io.ask(`${question} [y/N] `)).trim())) return inputHash
  throw new UsageError('Nothing is decided.')
}

/** The answers by question: those that were given, in the order of the questions, or what the person types. */
async function answersTo(
  io: Io,
  found: ApprovalView,
  given: readonly string[] | undefined,
): Promise<Record<string, string>> {
  const questions = questionsOf(found)
  const answers: Record<string, string> = {}
  for (const [index, one] of questions.entries()) {
    const typed = given?.[index] ?? (await io.ask?.(questionText(io, one)))?.trim()
    if (!typed)
      throw new UsageError(
        `Nothing is decided: ${questions.length} questions, each with an answer. Give --answer for each.`,
      )
    answers[one.question] = given ? typed : labelOf(one, typed)
  }
  return answers
}

function decide(
  gateway: GatewayClient,
  { approvalId: id }: ApprovalView,
  body: {
    answer: 'once' | 'deny' | 'answer'
    message?: string | undefined
    answers?: Record<string, string>
    inputHash: string
  },
) {
  return gateway.call('POST /v1/approvals/:id/decision', { params: { id }, body })
}
