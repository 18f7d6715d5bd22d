import { spawn } from 'node:child_process'
import type { Io } from '../../../../client/io.ts'
import { messageBytesMax, type Transport } from './transport.ts'

/** How long the child has to end by itself, then by SIGTERM. */
const endMaxMs = 1_000

/** Starts a `codex app-server` as a child process, with one message a line. If it cannot be started, the transport is closed. */
export function openChild(program: string, env: Io['env']): Transport {
  const child = spawn(program, ['app-server'], { env: { ...env }, stdio: ['pipe', 'pipe', 'ignore'] })
  let why = 'the app-server has ended'
  const closed = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${program} cannot be started: ${error.message}`))
    child.once('close', () => resolve(why))
  })
  // A program that does not read has ended, or will.
  child.stdin.on('error', () => {})
  let listener: (text: string) => void = () => {}
  const parts: string[] = []
  let length = 0
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    const [first, ...lines] = chunk.split('\n')
    parts.push(first!)
    length += first!.length
    for (const line of lines) {
      if (length > 0) listener(parts.join(''))
      parts.splice(0, parts.length, line)
      length = line.length
    }
    if (length <= messageBytesMax) return
    why = 'a message of the app-server is too large'
    child.kill('SIGKILL')
  })
  return {
    closed,
    send: (text) => void child.stdin.write(`${text}\n`),
    onText: (own) => {
      listener = own
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      const signals = (['SIGTERM', 'SIGKILL'] as const).map((signal, index) =>
        setTimeout(() => child.kill(signal), endMaxMs * (index + 1)),
      )
      await closed
      for (const timer of signals) clearTimeout(timer)
    },
  }
}
