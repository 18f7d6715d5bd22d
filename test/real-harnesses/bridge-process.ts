import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { until } from '../support/until.ts'

const rouse = resolve(import.meta.dirname, '../../dist/main.js')

interface Place {
  readonly env: Record<string, string>
  at(...names: string[]): string
}

/** One step of a wake, as `rouse bridge --json` prints it. */
export interface BridgeStep {
  readonly eventId: string
  readonly step: string
  readonly source?: string
  readonly detail?: string
}

/** True when a step says that the wake is held, for a reason like that. */
export const isHeld =
  (reason: RegExp) =>
  ({ step, detail = '' }: BridgeStep): boolean =>
    step === 'held' && reason.test(detail)

/** `rouse bridge` as its user starts it. Resolves when it reads the wakes of its agent. */
export async function startBridgeProcess(place: Place) {
  const child = spawn(process.execPath, [rouse, 'bridge', '--json'], {
    env: place.env,
    cwd: place.at('project'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  const listeners: ((step: BridgeStep) => void)[] = []
  child.stderr.setEncoding('utf8').on('data', (text) => (printed.stderr += text))
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const before = steps().length
    printed.stdout += text
    for (const step of steps().slice(before)) for (const listener of listeners) listener(step)
  })
  const exited = once(child, 'close')
  const steps = () =>
    printed.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as BridgeStep)
  const bridge = {
    steps,
    /** The lines that it prints for its user. */
    notes: () => printed.stderr,
    /** Resolves when it has said this, with all that it has said. */
    says: (pattern: RegExp, timeoutMs?: number) =>
      until(
        () => printed.stderr,
        (text) => pattern.test(text),
        timeoutMs,
      ),
    /** Resolves with the first step that is wanted. */
    step: async (isWanted: (step: BridgeStep) => boolean, timeoutMs?: number): Promise<BridgeStep> => {
      const find = () => steps().find(isWanted)
      const found = until(find, (step) => step !== undefined, timeoutMs)
      return (await found.catch(({ message }) => {
        throw new Error([message, printed.stderr, printed.stdout].join('\n'))
      }))!
    },
    /** Calls back at each step, as soon as it is printed. */
    onStep: (listener: (step: BridgeStep) => void) => void listeners.push(listener),
    /** Ends it with `kill -9`: it says nothing more. */
    kill: () => void child.kill('SIGKILL'),
    exited,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(timer)
    },
  }
  const isUp = () => printed.stderr.includes(': connected') || child.exitCode !== null
  await until(isUp, Boolean)
  if (child.exitCode !== null) throw new Error(`The bridge ended: ${printed.stderr}`)
  return bridge
}
