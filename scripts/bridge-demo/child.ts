import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program of the demonstration, and what it has said. */
export interface Child extends AsyncDisposable {
  /** Resolves with the first line of standard output that has this, or matches it. Rejects when the program ends before, or after a minute. */
  line(part: string | RegExp): Promise<string>
  say(text: string): void
  /** Ends its standard input. */
  end(): void
  /** Everything on standard error. */
  complaints(): string
}

const lineMaxMs = 60_000

const running = new Set<ChildProcess>()
// Without its programs the demonstration fails, and cleans up behind it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill('SIGTERM')
  })
}

/** Starts a program. It is stopped when it is disposed. */
export function startChild(
  [program, ...argv]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Child {
  const child = spawn(program, argv, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  running.add(child)
  child.once('close', () => running.delete(child))
  const lines: string[] = []
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints += text))
  child.stdin.on('error', () => {})
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (text) => lines.push(text))
  return {
    complaints: () => complaints,
    say: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    line: (part) =>
      new Promise((resolve, reject) => {
        const found = () => lines.find((text) => (typeof part === 'string' ? text.includes(part) : part.test(text)))
        const settle = (act: () => void): void => {
          clearTimeout(timer)
          reader.off('line', look)
          child.off('close', ended)
          act()
        }
        const look = (): void => {
          const line = found()
          if (line !== undefined) settle(() => resolve(line))
        }
        const fail = (why: string): void =>
          settle(() => reject(new Error(`${program} ${argv.join(' ')}: ${why}\n${complaints}${lines.join('\n')}`)))
        const ended = (): void => fail(`ended before it said ${part}`)
        const timer = setTimeout(() => fail(`has not said ${part}`), lineMaxMs)
        reader.on('line', look)
        child.once('close', ended)
        look()
        if (child.exitCode !== null && found() === undefined) ended()
      }),
    [Symbol.asyncDispose]: () => stop(child),
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await closed
  clearTimeout(hard)
}
