import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

const script = fileURLToPath(new URL('./mail-agent.mjs', import.meta.url))

export interface ReceivedSignal {
  readonly received: 'push' | 'piggyback' | 'startup_drain'
  /** ms since the epoch */
  readonly at: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly signal: any
}

/** An agent that works by itself in a process of its own, and makes the calls that a test asks it for. */
export interface MailAgent extends AsyncDisposable {
  readonly sessionId: string
  readonly signals: readonly ReceivedSignal[]
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>
  /** The first signal of a type, once it is there. */
  waitFor(signalType: string): Promise<ReceivedSignal>
  /** Ends its session and resolves when the process is gone. */
  end(): Promise<void>
}

export async function spawnMailAgent(
  gateway: { url: string },
  agent: { key: string },
  options: { surface: string; isWoken?: boolean },
): Promise<MailAgent> {
  const child = spawn(process.execPath, [script], {
    env: {
      GATEWAY_URL: gateway.url,
      GATEWAY_KEY: agent.key,
      ROUSE_AGENT_SURFACE: options.surface,
      ...(options.isWoken ? { AGENT_IS_WOKEN: '1' } : {}),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const signals: ReceivedSignal[] = []
  const answers = new Map<number, { status: number; body: unknown }>()
  let sessionId: string | undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line)
    if (said.ready) sessionId = said.ready
    if (said.received) signals.push(said)
    if (said.answer) answers.set(said.id, said.answer)
  })
  await until(
    () => sessionId,
    (id) => id !== undefined || child.exitCode !== null,
  )
  if (sessionId === undefined) throw new Error(`The agent ended with ${child.exitCode} before it was there.`)
  let calls = 0
  return {
    sessionId,
    signals,
    async call(method, path, body) {
      const id = ++calls
      child.stdin.write(`${JSON.stringify({ id, method, path, body })}\n`)
      return (await until(
        () => answers.get(id),
        (answer) => answer !== undefined,
        // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
      )) as any
    },
    async waitFor(signalType) {
      const found = () => signals.find(({ signal }) => signal.signal_type === signalType)
      return (await until(found, (signal) => signal !== undefined)) as ReceivedSignal
    },
    async end() {
      child.stdin.end()
      await ended
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
