import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import type { AnswerOf } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import type { CommandAccess } from '../../client/wakes/command-access.ts'
import { failTasks, whyFailed } from '../../client/wakes/fail-tasks.ts'
import { isOver, partsOf } from '../../client/wakes/parts.ts'
import { askForTurn } from '../../client/wakes/turns.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { runWakeCommand } from '../../client/wakes/wake-command.ts'
import { readWakeContext, type WakeContext } from '../../client/wakes/wake-context.ts'
import type { Failure, Outcome } from './wake-work.ts'

/** The command of `--exec`, and where it runs. */
interface ExecRun {
  readonly exec: string
  /** How long it may run. */
  readonly timeoutMs: number
  readonly onFailure: 'fail' | 'keep'
  readonly access: CommandAccess | undefined
  /** The agent that an operator listens for. */
  readonly agent?: string | undefined
  readonly io: Io
  readonly gateway: GatewayClient
  readonly print: Printer
}

/** A command that fails for two parts, and has worked for none, is at fault itself: the other parts wait. */
const failedPartsMax = 2
const ulidLength = 26
const stopped: Failure = { step: 'failed', detail: 'it was stopped' }

/**
 * Runs the command for a wake that has failed so often before. A digest whose run fails is taken apart, and run for each of its parts alone, each
 * time beginning with others, so that no text can end or delay the others. `left`: the parts that have failed.
 */
export async function runCommand(wake: Wake, failures: number, run: ExecRun): Promise<Outcome> {
  const parts = partsOf(wake)
  if (failures === 0 || parts.length === 0) {
    const whole = (await runOnce(wake, run))!
    if (parts.length === 0 || whole.step === 'delivered') return whole
  }
  const first = (failures * failedPartsMax) % parts.length
  const left: { wake: Wake; failure: Failure }[] = []
  let worked = 0
  for (const part of [...parts.slice(first), ...parts.slice(0, first)]) {
    if (run.io.signal?.aborted) return stopped
    const outcome = await runOnce(part, run, true)
    if (outcome?.step === 'delivered') worked++
    else if (outcome) left.push({ wake: part, failure: outcome })
    if (worked > 0 || left.length < failedPartsMax) continue
    const givenUp = async () => {
      for (const { failure } of left) await failure.givenUp?.()
    }
    return { ...left[0]!.failure, givenUp }
  }
  return run.io.signal?.aborted ? stopped : { step: 'delivered', left }
}

/** Runs the command for one wake. undefined: of a part whose tasks are over nothing is left to do. */
async function runOnce(wake: Wake, run: ExecRun, isPart = false): Promise<Outcome | undefined> {
  const { exec, access, io, gateway, print } = run
  const context = await readWakeContext(gateway, wake)
  if (isPart && isOver(context)) return undefined
  // A part of a digest has the id of the digest, and a number.
  const turn = await askForTurn(gateway, wake.eventId.slice(0, ulidLength), 'exec', {
    signal: io.signal,
    agent: run.agent,
  })
  if (turn.against) return refused(turn.against, run)
  const { failure, lastLine } = await runWakeCommand(wake, {
    command: exec,
    env: io.env,
    access,
    context,
    timeoutMs: run.timeoutMs,
    ...commandOutput(io, print),
    signal: io.signal,
  })
  void turn.end(failure === undefined ? 'completed' : 'failed', failure)
  if (failure === undefined) return { step: 'delivered' }
  const detail = `${failure}${lastLine === '' ? '' : `: ${lastLine}`}${subjectOf(wake, context)}`
  const givenUp = async () => {
    const failed = await failTasks(gateway, wake.agentIdentity, context, whyFailed(failure, lastLine)).catch(noteError)
    for (const id of failed) print.note(`Task ${plain(id)} is failed now, and says why (--on-failure keep leaves it).`)
  }
  const noteError = ({ message }: Error): string[] => {
    print.note(`Its task was not moved: ${plain(message)}`)
    return []
  }
  // The tasks of a digest are failed one by one, where the command was run for each.
  const mayFail = run.onFailure === 'fail' && partsOf(wake).length === 0
  return { step: 'failed', detail, ...(mayFail ? { givenUp } : {}) }
}

/** Mail that another program of the agent has taken is done. A turn that may not begin now is asked for again. */
async function refused({ answer, why, until }: AnswerOf<'POST /v1/turns'>, { print }: ExecRun): Promise<Outcome> {
  if (answer === 'never') return { step: 'delivered' }
  const detail = `no turn begins: ${why}${until === null ? '' : ` It may at ${until}.`}`
  print.note(plain(detail))
  return { step: 'failed', detail }
}

/** ` (task 0b6f… from @olga)`: whose text it is. Of a digest that has several nothing is said. Pure. */
function subjectOf(wake: Wake, { messages: [message], tasks: [task] }: WakeContext): string {
  const id = task ? `task ${task.id}` : message?.messageId
  const from = message?.from ?? task?.originator
  return id === undefined || partsOf(wake).length > 0 ? '' : ` (${plain(id)} from ${plain(from)})`
}

/**
 * The places to which the output of a command goes. With `--json` standard output has wakes only. A terminal gets it without control characters: a model
 * prints what others have asked it to print, and that moves no cursor and sets no title.
 */
function commandOutput(io: Io, { json }: Pick<Printer, 'json'>) {
  const shown = (print: (text: string) => void) =>
    io.isTerminal ? (text: string) => print(plain(text, 'lines')) : (text: string) => print(text)
  return { stdout: shown(json ? io.stderr : io.stdout), stderr: shown(io.stderr) }
}
