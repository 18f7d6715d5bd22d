import { existsSync } from 'node:fs'
import {
  type Adapter,
  type AdapterContext,
  type AdapterRow,
  bridgeStops,
  type HarnessSession,
  type NoteLimit,
  type OutgoingWake,
  type WakeEnd,
  type WakeTools,
} from '../../../bridge/adapter.ts'
import { clip, plain } from '../../../client/terminal-text.ts'
import { accessOf } from '../../../client/wakes/command-access.ts'
import { failTasks, whyFailed } from '../../../client/wakes/fail-tasks.ts'
import { isOver, partsOf } from '../../../client/wakes/parts.ts'
import type { Wake } from '../../../client/wakes/wake.ts'
import { runWakeCommand } from '../../../client/wakes/wake-command.ts'
import { readWakeContext } from '../../../client/wakes/wake-context.ts'
import { LastLines } from './output-limit.ts'

const lineMax = 500

const linesMax = 100
const readMax = 4_000

/** Starts the user's command for each wake, as `rouse listen --exec` does. Nobody is interrupted, so presence does not hold it. Source: D34. */
export const execRow: AdapterRow = {
  id: 'exec',
  title: 'a command',
  proves: ['delivered'],
  isOptIn: true,
  settings: {
    command: { type: 'string', help: 'the shell command to run for each wake, with the wake on its standard input' },
    timeoutSeconds: { type: 'number', help: 'how long it may run, 1 to 86400 (default: 3600)' },
    onFailure: {
      type: 'string',
      help: 'what becomes of the task of a wake whose command failed: fail (default) or keep',
    },
  },
  create: createExecAdapter,
}

const route = 'command'
/** EX_TEMPFAIL of sysexits.h. */
const tryAgain = 75
const timeoutSecondsDefault = 3_600
const timeoutSecondsMax = 86_400
const howToSet = 'There is no command to run: set `command` of exec in the configuration.'

function createExecAdapter(context: AdapterContext): Adapter {
  const { command, timeoutMs, onFailure } = settingsOf(context.settings)
  let before: Promise<unknown> = Promise.resolve()
  let noteLimit: NoteLimit = () => {}
  /** The digests that were taken apart, each with its parts that have been run. */
  const apart = new Map<string, Set<string>>()

  /** Runs a digest as a whole; if that fails, each task and message alone, so that none of them can end the others. */
  async function wakeOf(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const parts = wake.source ? partsOf(wake.source) : []
    const whole = apart.has(wake.id) ? undefined : await wakeAlone(session, wake, tools)
    if (parts.length === 0 || tools.signal.aborted) return whole ?? bridgeStops
    if (whole && whole.step !== 'unknown') return whole
    const run = apart.get(wake.id) ?? new Set()
    apart.set(wake.id, run)
    let failed = 0
    for (const source of parts.filter(({ eventId }) => !run.has(eventId))) {
      const { gateway } = tools
      if (!(gateway && isOver(await readWakeContext(gateway, source)))) {
        const end = await wakeAlone(session, { ...wake, source }, tools)
        if (end.step === 'held') return end
        if (end.step === 'failed') await end.givenUp?.().catch(() => {})
        if (end.step !== 'delivered') failed++
      }
      run.add(source.eventId)
    }
    apart.delete(wake.id)
    const detail = `taken apart: the command failed for ${failed} of ${parts.length}`
    return { step: failed === parts.length ? 'unknown' : 'delivered', detail }
  }

  async function wakeAlone(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const source = wake.source ?? withoutSource(wake)
    const { gateway } = tools
    /** Nobody waits for ever for a task whose command has failed for good. Source: D48. */
    const failTask = async (why: string): Promise<void> => {
      if (!gateway || onFailure === 'keep' || partsOf(source).length > 0) return
      const failed = await failTasks(gateway, source.agentIdentity, await readWakeContext(gateway, source), why)
      for (const id of failed) context.note(`  Task ${plain(id)} is failed now, and says why.`)
    }
    const notBegun = { givenUp: () => failTask('The command for this task could not be started.') }
    if (command === undefined) return { step: 'failed', detail: howToSet, ...notBegun }
    if (tools.signal.aborted) return bridgeStops
    if (!existsSync(session.cwd!)) {
      return { step: 'failed', detail: `The directory ${session.cwd} is gone.`, ...notBegun }
    }
    const access = gateway && (await accessOf(gateway))
    const about = gateway && (await readWakeContext(gateway, source))
    await tools.handingOver(route)
    const startedAt = context.now()
    const last = new LastLines()
    const output = outputNotes((line) => last.add(line), context.note)
    const { failure, hasStarted, exitCode, lastLine } = await runWakeCommand(source, {
      command,
      env: context.env,
      cwd: session.cwd!,
      access,
      context: about,
      timeoutMs,
      stdout: output.add,
      stderr: output.add,
      signal: tools.signal,
    })
    output.end()
    if (failure === undefined) {
      return { step: 'delivered', detail: `the command ended with 0 after ${context.now() - startedAt} ms` }
    }
    const turn = hasStarted ? { isTurn: true as const } : {}
    const limit = last.limitOf({ command, given: [source, about], now: context.now() })
    if (limit !== undefined && !tools.signal.aborted) {
      // It is tried again when the limit is over: the task goes on waiting.
      noteLimit(limit, { agent: source.agentIdentity ?? '' })
      const detail = `the command ${failure}, at a limit${limit.detail ? `: ${limit.detail}` : ''}`
      return { step: 'held', detail, reason: 'usage_limit', ...turn }
    }
    const givenUp = () => failTask(whyFailed(failure, lastLine))
    // It may already have done something, unless its exit code says that it has not.
    if (!hasStarted || exitCode === tryAgain) {
      return { step: 'failed', detail: `the command ${failure}`, isUntouched: true, ...turn, givenUp }
    }
    if (tools.signal.aborted)
      return { step: 'unknown', detail: `the bridge stopped while the command ran; it ${failure}` }
    await givenUp().catch(() => {})
    return { step: 'unknown', detail: `the command ${failure}${lastLine === '' ? '' : `: ${lastLine}`}` }
  }

  return {
    async probe() {
      if (command === undefined) return { isThere: false, sessions: [], remarks: [howToSet] }
      const sessions = context.directories.filter((directory) => existsSync(directory)).map(sessionIn)
      const missing = context.directories.filter((directory) => !existsSync(directory))
      return { isThere: true, sessions, remarks: missing.map((directory) => `${directory} does not exist: make it.`) }
    },
    wake(session, wake, tools) {
      const ended = before.then(() => wakeOf(session, wake, tools))
      before = ended.catch(() => {})
      return ended
    },
    onLimit(note) {
      noteLimit = note
    },
    // A process that has ended leaves nothing to look at.
    async find() {
      return 'unknown'
    },
    async [Symbol.asyncDispose]() {
      await before
    },
  }
}

/** The conversation is the command itself, in a directory. */
function sessionIn(cwd: string): HarnessSession {
  return { harness: 'exec', conversationId: `command in ${cwd}`, cwd, state: 'idle', route }
}

/** Errors: a value that is out of range, with the name of its field. */
function settingsOf({
  command,
  timeoutSeconds = timeoutSecondsDefault,
  onFailure = 'fail',
}: AdapterContext['settings']) {
  const seconds = Number(timeoutSeconds)
  if (!(seconds >= 1 && seconds <= timeoutSecondsMax)) {
    throw new Error(`exec.timeoutSeconds must be between 1 and ${timeoutSecondsMax}, not ${timeoutSeconds}.`)
  }
  if (onFailure !== 'fail' && onFailure !== 'keep') {
    throw new Error(`exec.onFailure must be fail or keep, not ${onFailure}.`)
  }
  const text = typeof command === 'string' ? command.trim() : ''
  return { command: text === '' ? undefined : text, timeoutMs: seconds * 1_000, onFailure }
}

function withoutSource({ id, text }: OutgoingWake): Wake {
  return { eventType: 'wake', eventId: id, payload: { summary: text } }
}

/** Passes what a command prints on, a line each and a bounded number of them. */
function outputNotes(read: (line: string) => void, note: (text: string) => void) {
  let rest = ''
  let count = 0
  const tell = (line: string): void => {
    read(line)
    if (line.trim() === '' || count > linesMax) return
    count++
    note(count > linesMax ? '  … (the command prints more)' : `  ${clip(plain(line), lineMax)}`)
  }
  return {
    add(text: string): void {
      const lines = (rest + text).split('\n')
      // A line without an end is not gathered without one.
      rest = lines.pop()!.slice(0, readMax)
      lines.forEach(tell)
    },
    end(): void {
      tell(rest)
      rest = ''
    },
  }
}
