import { type ChildProcess, spawn } from 'node:child_process'

/** A program, and how long it has. */
interface Command {
  readonly path: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  readonly timeoutMs: number
}

/** How a conversation ended. */
interface Talk {
  /** The lines that it printed, at most `bytesMax` of them. */
  readonly lines: readonly string[]
  /** The last line of its standard error. */
  readonly complaint: string
  /** Why there are no more lines. */
  readonly end: 'answered' | 'exited' | 'timeout' | 'not-started'
  /** null: it had to be stopped, or never ran. */
  readonly exitCode: number | null
}

const bytesMax = 4 * 1024 * 1024
const graceMs = 1_000

/**
 * Starts a program, writes lines to it, and reads its lines until they are enough, it ends, or its time is over. Then it is ended: by the
 * end of its input, and a second later by a signal. Never throws.
 */
export async function talk(
  command: Command,
  say: string,
  isEnough: (lines: readonly string[]) => boolean,
): Promise<Talk> {
  const { path, args, env, cwd, timeoutMs } = command
  const lines: string[] = []
  let rest = ''
  let complaint = ''
  let bytes = 0
  let child: ChildProcess
  try {
    child = spawn(path, args, { env: env as NodeJS.ProcessEnv, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    return { lines, complaint: (error as Error).message, end: 'not-started', exitCode: null }
  }
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const end = await new Promise<Talk['end']>((resolve) => {
    const timer = setTimeout(() => resolve('timeout'), timeoutMs)
    child.once('error', (error: NodeJS.ErrnoException) => {
      complaint = error.code ?? error.message
      resolve('not-started')
    })
    child.once('close', () => {
      if (rest !== '') lines.push(rest)
      resolve(isEnough(lines) ? 'answered' : 'exited')
    })
    child.stderr!.on('data', (chunk: Buffer) => {
      complaint = lastLine(complaint + chunk.toString())
    })
    child.stdout!.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) return resolve('timeout')
      const parts = (rest + chunk.toString()).split(/\r?\n/)
      rest = parts.pop() ?? ''
      lines.push(...parts)
      if (isEnough(lines)) resolve('answered')
    })
    // A program that does not read has ended, or will.
    child.stdin!.on('error', () => undefined)
    if (say !== '') child.stdin!.write(say)
    else child.stdin!.end()
    void exited.then(() => clearTimeout(timer))
  })
  const { exitCode } = child
  await stop(child, exited, end)
  return { lines, complaint: complaint.trim(), end, exitCode }
}

async function stop(child: ChildProcess, exited: Promise<void>, end: Talk['end']): Promise<void> {
  if (end === 'not-started' || child.exitCode !== null) return
  child.stdin?.end()
  const timer = setTimeout(() => child.kill('SIGKILL'), end === 'timeout' ? 0 : graceMs)
  await exited
  clearTimeout(timer)
}

function lastLine(text: string): string {
  return text.trimEnd().split(/\r?\n/).at(-1)!.slice(0, 300)
}
