import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Interrupted, UsageError } from '../../client/failure.ts'

/** What asking takes of the process. */
interface Terminal {
  readonly stdin: NodeJS.ReadableStream
  readonly stderr: NodeJS.WritableStream
}

/** Asks for one line on the terminal. A secret is not shown while it is typed. Errors: Ctrl-C, Ctrl-D, the signal. */
export async function ask(
  question: string,
  { stdin, stderr }: Terminal,
  signal: AbortSignal,
  { isSecret = false }: { isSecret?: boolean } = {},
): Promise<string> {
  // readline echoes what is typed to its output: this one swallows it.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  if (isSecret) stderr.write(question)
  const lines = createInterface({ input: stdin, output: isSecret ? silent : stderr, terminal: true })
  // The terminal is raw meanwhile, so Ctrl-C arrives here as a key. Ctrl-D closes the input.
  const ended = new AbortController()
  lines.on('SIGINT', () => ended.abort(new Interrupted('SIGINT')))
  lines.on('close', () => ended.abort(new UsageError('There was no answer.')))
  try {
    return await lines.question(isSecret ? '' : question, { signal: AbortSignal.any([signal, ended.signal]) })
  } catch (error) {
    throw ended.signal.reason ?? error
  } finally {
    lines.close()
    if (isSecret) stderr.write('\n')
  }
}
