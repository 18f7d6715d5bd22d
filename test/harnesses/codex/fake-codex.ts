import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { WebSocketServer } from 'ws'
import type { JsonObject } from '../../../src/lib/json.ts'
import { atTestEnd } from '../../support/ends.ts'
import { type FakeClient, FakeProcess } from './fake-process.ts'
import { FakeThread } from './fake-thread.ts'

interface Listener {
  readonly process: FakeProcess
  readonly http: HttpServer
  readonly sockets: WebSocketServer
  readonly link: string
}

/**
 * A home of Codex with its conversations and processes: servers that listen, terminals of their own, and the program `codex`, whose
 * `app-server` speaks lines. It fails as the real one does, and `faults` breaks it further.
 */
export class FakeCodex {
  readonly home: string
  readonly project: string
  /** The program: a script that talks to this process. */
  readonly program: string
  version = '0.169.0'
  readonly threads: FakeThread[] = []
  readonly hooks: { command: string; trustStatus: string; enabled: boolean }[] = []
  /** The use of its account; undefined: it has no account of ChatGPT. */
  rateLimits: object | undefined
  /** The methods that clients have called, in order. */
  readonly calls: { readonly method: string; readonly params: JsonObject }[] = []
  readonly faults: {
    isOld: boolean
    overloaded: number
    diesAfter?: string
    lies?: (method: string, answer: object) => unknown
    readonly silent: Set<string>
  } = {
    isOld: false,
    overloaded: 0,
    silent: new Set(),
  }
  /** Children of the program that run now. */
  readonly children = new Set<FakeProcess>()
  readonly #directory: string
  readonly #listeners: Listener[] = []
  readonly #locks = new Map<string, Database.Database>()
  readonly #polls: NodeJS.Timeout[] = []
  readonly #lines: Server
  readonly #connections = new Set<Socket>()

  private constructor() {
    this.#directory = mkdtempSync(join(process.env.ROUSE_TEST_SCRATCH ?? tmpdir(), 'codex-'))
    this.home = join(this.#directory, 'home')
    this.project = join(this.#directory, 'project')
    this.program = join(this.#directory, 'codex')
    mkdirSync(join(this.home, 'thread-writer-locks'), { recursive: true })
    mkdirSync(this.project)
    const socket = join(this.#directory, 'child.sock')
    writeFileSync(this.program, programText(socket), { mode: 0o755 })
    this.#lines = createServer((connection) => this.#child(connection)).listen(socket)
  }

  /** Begins one, which goes with the test. */
  static start(): FakeCodex {
    const codex = new FakeCodex()
    atTestEnd(() => codex.#stop())
    return codex
  }

  addThread({ cwd = this.project, preview = 'hello', ephemeral = false } = {}): FakeThread {
    const thread = new FakeThread(cwd, preview, ephemeral)
    this.threads.push(thread)
    return thread
  }

  get controlSocket(): string {
    return join(this.home, 'app-server-control', 'app-server-control.sock')
  }

  /** Starts an app-server that listens, behind a symbolic link as the real one does. */
  async listen(link = this.controlSocket, mode = 0o600): Promise<FakeProcess> {
    const real = mkdtempSync(join(this.#directory, 'sockets-'))
    const process = new FakeProcess(this, true)
    const http = createHttpServer()
    // Lines that are no HTTP get no answer, and no error.
    http.on('clientError', () => {})
    const sockets = new WebSocketServer({ server: http })
    sockets.on('connection', (socket) => {
      const client: FakeClient = {
        send: (message) => socket.send(JSON.stringify(message)),
        close: () => socket.terminate(),
        threads: new Set(),
      }
      process.clients.add(client)
      // A client that is sent too much breaks off.
      socket.on('error', () => {})
      socket.on('close', () => process.clients.delete(client))
      socket.on('message', (data) => process.take(client, JSON.parse(String(data))))
    })
    await new Promise<void>((resolve) => http.listen(join(real, 's'), resolve))
    chmodSync(join(real, 's'), mode)
    mkdirSync(join(link, '..'), { recursive: true })
    rmSync(link, { force: true })
    symlinkSync(join(real, 's'), link)
    this.#listeners.push({ process, http, sockets, link })
    return process
  }

  /** Opens a terminal that runs by itself: it looks into the queue now and then. */
  openTerminal(thread: FakeThread, pollMs = 30): FakeProcess {
    const process = new FakeProcess(this, false)
    thread.owner = process
    this.lock(thread)
    this.#polls.push(setInterval(() => thread.owner === process && thread.drain(), pollMs))
    return process
  }

  /** A process ends at once, and what it has open is closed. Its socket stays. */
  kill(process: FakeProcess): void {
    for (const thread of process.threads) {
      if (thread.running) thread.running.status = 'interrupted'
      thread.owner = undefined
      this.unlock(thread)
    }
    for (const client of process.clients) client.close()
    const listener = this.#listeners.find((one) => one.process === process)
    listener?.sockets.close()
    listener?.http.close()
  }

  /** A server drains what came through it; dying comes before that. */
  afterAnswer(process: FakeProcess, method: string): void {
    if (method !== 'thread/queue/add' || !process.takesAtOnce) return
    setImmediate(() => {
      for (const thread of process.threads) thread.drain()
    })
  }

  /** The lock of a thread is a real one: SQLite holds it for this process. */
  lock({ id }: FakeThread): void {
    const lock = new Database(join(this.home, 'thread-writer-locks', `${id}.lock`))
    lock.exec('begin exclusive')
    this.#locks.set(id, lock)
  }

  unlock({ id }: FakeThread): void {
    this.#locks.get(id)?.close()
    this.#locks.delete(id)
  }

  /** The number of calls of a method. */
  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length
  }

  #child(connection: Socket): void {
    const process = new FakeProcess(this, true)
    this.children.add(process)
    this.#connections.add(connection)
    const client: FakeClient = {
      send: (message) => connection.write(`${JSON.stringify(message)}\n`),
      close: () => connection.destroy(),
      threads: new Set(),
    }
    process.clients.add(client)
    createInterface({ input: connection }).on('line', (line) => process.take(client, JSON.parse(line)))
    connection.on('error', () => {})
    connection.on('close', () => {
      this.kill(process)
      this.children.delete(process)
      this.#connections.delete(connection)
    })
  }

  async #stop(): Promise<void> {
    for (const poll of this.#polls) clearInterval(poll)
    for (const { process } of this.#listeners) this.kill(process)
    for (const connection of this.#connections) connection.destroy()
    for (const thread of this.threads) this.unlock(thread)
    await new Promise((resolve) => this.#lines.close(resolve))
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function programText(socket: string): string {
  return `#!${process.execPath}
const connection = require('node:net').connect(${JSON.stringify(socket)})
process.stdin.pipe(connection)
connection.pipe(process.stdout)
connection.on('close', () => process.exit(0)).on('error', () => process.exit(1))
`
}
