import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../src/lib/json.ts'
import { atFileEnd } from './ends.ts'

const script = fileURLToPath(new URL('../../examples/harness.mjs', import.meta.url))

/** examples/harness.mjs in a process of its own. */
interface ExampleHarness extends AsyncDisposable {
  /** Returns the objects that it has printed so far, of one kind: `subscribed`, `woken`, `working`, `completed`, `failed`. */
  said(what: string): readonly JsonObject[]
  /** kill -9: it says goodbye to nobody. */
  kill(): Promise<void>
}

/** Starts the example harness, and resolves when it has subscribed. */
export async function spawnExample(gateway: { url: string }, agent: { key: string }): Promise<ExampleHarness> {
  const child = spawn(process.execPath, [script], {
    env: { ROUSE_URL: gateway.url, ROUSE_KEY: agent.key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atFileEnd(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const lines: JsonObject[] = []
  await new Promise<void>((resolve, reject) => {
    void ended.then(([code]) => reject(new Error(`The harness ended with ${code} before it had subscribed.`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(JSON.parse(line))
      if (lines.at(-1)?.what === 'subscribed') resolve()
    })
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
  }
  return {
    said: (what) => lines.filter((line) => line.what === what),
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: () => end('SIGTERM'),
  }
}
