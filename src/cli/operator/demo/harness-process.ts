import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { withoutSecrets } from '../../../client/secret-input.ts'
import type { Story } from './story.ts'

/** The example that ships with the code. It runs unchanged, in its own process. */
const script = fileURLToPath(new URL('../../../../examples/harness.mjs', import.meta.url))

interface HarnessLine {
  readonly at: number
  readonly what: string
  readonly newState?: string
  readonly reason?: string
  readonly [detail: string]: unknown
}

export interface Harness {
  /** When its first output came, in ms since the epoch. */
  momentOf(what: string, newState?: string): number | undefined
  /** Resolves when it has printed this line so many times. Rejects if it ends before. */
  heard(what: string, times: number): Promise<void>
  stop(): Promise<void>
}

/** Starts the example harness, and prints what it does. Resolves when it has subscribed. */
export async function startHarness(url: string, key: string, story: Story): Promise<Harness> {
  const child = spawn(process.execPath, [script], {
    env: { ...withoutSecrets(process.env), ROUSE_URL: url, ROUSE_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: HarnessLine[] = []
  const lines = createInterface({ input: child.stdout! })
  const subscribed = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The harness ended with ${code} before it subscribed.`)))
    lines.on('line', (line) => {
      const saying = JSON.parse(line) as HarnessLine
      said.push(saying)
      const text = sentences[saying.what]?.(saying)
      if (text) story.tell('harness', text, saying.at)
      if (saying.what === 'subscribed') resolve()
    })
  })
  await subscribed
  return {
    momentOf: (what, newState) =>
      said.find((saying) => saying.what === what && (newState === undefined || saying.newState === newState))?.at,
    heard: (what, times) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (said.filter((saying) => saying.what === what).length < times) return
          lines.off('line', check)
          resolve()
        }
        lines.on('line', check)
        const fail = () => reject(new Error(`The harness ended with ${child.exitCode} before it was done.`))
        if (hasEnded(child)) return fail()
        child.once('exit', fail)
        check()
      }),
    stop: () => endProcess(child),
  }
}

const sentences: Record<string, (saying: HarnessLine) => string> = {
  started: () => 'started a session: it speaks for @donna',
  mail: ({ from, subject }) => `found mail that waited, from ${from}: ${subject}`,
  subscribed: () => 'runs in its own process, knows a webhook and REST only, and asked to be woken',
  woken: ({ eventType, newState, reason, logId }) =>
    `woken by ${eventType} (${newState ?? reason}), log ${logId}, signature verified`,
  working: () => 'took the task: working',
  completed: () => 'completed it, with an artifact',
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), 2_000)
  await gone
  clearTimeout(hard)
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
