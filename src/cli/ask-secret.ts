import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Interrupted, UsageError } from './failure.ts'

/** What asking takes of the process. */
interface Terminal {
  readonly stdin: NodeJS.ReadableStream
  readonly stderr: { write(text: string): unknown }
}

/** Asks for one line on the terminal. What is typed is not shown. Errors: Ctrl-C, Ctrl-D, the signal. */
export async function askSecret(prompt: string, { stdin, stderr }: Terminal, signal: AbortSignal): Promise<string> {
  stderr.write(prompt)
  // readline echoes to its output: this one swallows it.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: silent, terminal: true })
  // The terminal is raw meanwhile, so Ctrl-C arrives here as a key. Ctrl-D closes the input.
  const ended = new AbortController()
  lines.on('SIGINT', () => ended.abort(new Interrupted('SIGINT')))
  lines.on('close', () => ended.abort(new UsageError('No key was given.')))
  try {
    return await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) })
  } catch (error) {
    throw ended.signal.reason ?? error
  } finally {
    lines.close()
    stderr.write('\n')
  }
}
