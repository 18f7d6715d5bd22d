import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { BridgeAttachment } from '../../../bridge/local/attach-to-bridge.ts'
import { processStart } from '../../../bridge/processes.ts'
import type { Io } from '../../../client/io.ts'
import type { AcpSession } from './acp-session.ts'
import { AcpTraffic } from './traffic.ts'

/** A longer line is passed on in pieces, unread: an image, a file. */
const lineBytesMax = 16 * 1024 * 1024

/** Reads a stream line by line, each with its end, and writes lines to another one. Bytes are never changed. */
class LinePump {
  readonly #to: Writable
  readonly #from: Readable
  readonly #noteLine: (line: Buffer) => void
  #parts: Buffer[] = []
  #size = 0
  #isPassing = false
  readonly #waiting: (Buffer | string)[] = []

  /** Resolves when there is nothing more to read. */
  readonly ended: Promise<void>

  constructor(from: Readable, to: Writable, noteLine: (line: Buffer) => void) {
    this.#from = from
    this.#to = to
    this.#noteLine = noteLine
    this.ended = new Promise((resolve) => {
      from.on('data', (chunk: Buffer) => this.#read(chunk))
      from.once('end', () => {
        // Its reader decides about a line without an end.
        if (this.#size > 0) this.#put(Buffer.concat(this.#parts))
        resolve()
      })
      from.once('close', () => resolve())
      from.once('error', () => resolve())
    })
  }

  /** Writes a whole line; if another one is being written in pieces, after that. The source waits while the reader is slow. */
  write(line: Buffer | string): void {
    if (this.#isPassing) this.#waiting.push(line)
    else this.#put(line)
  }

  #put(part: Buffer | string): void {
    if (!this.#to.writable || this.#to.write(part)) return
    this.#from.pause()
    this.#to.once('drain', () => this.#from.resume())
  }

  #read(chunk: Buffer): void {
    let at = 0
    for (let end = chunk.indexOf(10, at); end >= 0; end = chunk.indexOf(10, at)) {
      this.#take(chunk.subarray(at, end + 1), true)
      at = end + 1
    }
    if (at < chunk.length) this.#take(chunk.subarray(at), false)
  }

  #take(part: Buffer, isEnd: boolean): void {
    if (this.#isPassing) {
      this.#put(part)
      this.#isPassing = !isEnd
      if (isEnd) for (const line of this.#waiting.splice(0)) this.#put(line)
      return
    }
    this.#parts.push(part)
    this.#size += part.length
    if (!isEnd && this.#size <= lineBytesMax) return
    const whole = this.#parts.length === 1 ? part : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    this.#isPassing = !isEnd
    if (isEnd) this.#noteLine(whole)
    else this.#put(whole)
  }
}

interface AcpProxyOptions {
  /** The agent, as the user has written it; no shell reads it. */
  readonly command: readonly string[]
  readonly env: Io['env']
  /** The stream that the editor writes, and the one that it reads. */
  readonly input: Readable
  readonly output: Writable
  /** Aborts when the proxy shall end. */
  readonly signal?: AbortSignal | undefined
}

/** After SIGTERM an agent has this long before it is killed. */
const killAfterMs = 5_000
/** An agent whose editor has ended should end by itself within this time; then it gets a signal. */
const leaveAfterMs = 10_000

/**
 * Starts an agent as a proxy between it and its editor: passes their messages on, attaches each session to the bridge of this user, and
 * sends its wakes as prompts. Resolves with the exit code of the agent. Errors: the agent cannot be started.
 */
export async function runAcpProxy({ command, env, input, output, signal }: AcpProxyOptions): Promise<number> {
  const [path, ...argv] = command
  const agent = spawn(path!, argv, { env: { ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  await started(agent)
  const attachments = new Map<string, { readonly attachment: BridgeAttachment; readonly stop: AbortController }>()
  const toAgent = new LinePump(input, agent.stdin!, (line) => traffic.fromEditor(line))
  const toEditor = new LinePump(agent.stdout!, output, (line) => traffic.fromAgent(line))
  const traffic: AcpTraffic = new AcpTraffic({
    toAgent: (line) => toAgent.write(line),
    toEditor: (line) => toEditor.write(line),
    changed: (session) => attach(session).change({ state: session.state }),
    ended: ({ id }) => detach(id),
    proved: ({ id }, wakeId, step, proof) => {
      const report = { wakeId, step, proof: proof.replace(/\s+/g, ' ').slice(0, proofMax), conversationId: id }
      attachments.get(id)?.attachment.report(report)
    },
  })

  function attach(session: AcpSession): BridgeAttachment {
    const known = attachments.get(session.id)
    if (known) return known.attachment
    const stop = new AbortController()
    const startedAt = processStart(agent.pid!)?.startedAt
    const client = {
      harness: 'acp',
      conversationId: session.id,
      ...(session.cwd === undefined ? {} : { cwd: session.cwd }),
      process: { pid: agent.pid!, ...(startedAt === undefined ? {} : { startedAt }) },
      route: 'proxy',
      state: session.state,
    } as const
    const attachment = new BridgeAttachment({
      env,
      client,
      signal: stop.signal,
      take(wake) {
        const refusal = traffic.wake(session.id, wake)
        if (refusal !== undefined) throw new Error(refusal)
      },
    })
    attachments.set(session.id, { attachment, stop })
    return attachment
  }

  function detach(id: string): Promise<void> | undefined {
    const known = attachments.get(id)
    attachments.delete(id)
    known?.stop.abort()
    return known?.attachment.ended
  }

  const stop = () => stopAgent(agent)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  // An editor that has gone reads nothing more; the agent notices by the end of its input.
  output.on('error', () => agent.stdin!.end())
  agent.stdin!.on('error', () => {})
  let cancelLeave = () => {}
  void toAgent.ended.then(() => {
    agent.stdin!.end()
    const timer = setTimeout(stop, leaveAfterMs)
    cancelLeave = () => clearTimeout(timer)
  })
  const code = await exitCodeOf(agent)
  cancelLeave()
  await toEditor.ended
  signal?.removeEventListener('abort', stop)
  await Promise.all([...attachments.keys()].map(detach))
  return code
}

/** The most characters in the proof of a report. */
const proofMax = 200

function started(agent: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    agent.once('spawn', resolve)
    agent.once('error', reject)
  })
}

function exitCodeOf(agent: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    agent.once('close', (code, killed) => resolve(code ?? 128 + (killed ? constants.signals[killed] : 0)))
  })
}

function stopAgent(agent: ChildProcess): void {
  agent.kill('SIGTERM')
  const timer = setTimeout(() => agent.kill('SIGKILL'), killAfterMs)
  agent.once('close', () => clearTimeout(timer))
}
