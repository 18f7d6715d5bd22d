import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '../../../client/io.ts'
import { canonical, type Receipt, receiptsIn, tokenIn } from './frames.ts'

const connectionsMax = 64
const lineMsMax = 10_000
const bytesMax = 65_536
const rememberedMax = 1_000
/** The most bytes in the path of a socket. */
const pathBytesMax = 103

/** Where sessions send their receipts: a socket in a directory that only this user may enter. */
export class ReceiptInbox implements AsyncDisposable {
  readonly token = randomBytes(32).toString('hex')
  readonly #directory: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #receipts = new Map<string, Receipt[]>()
  readonly #listeners = new Map<string, (receipt: Receipt) => void>()

  private constructor(directory: string) {
    this.#directory = directory
    this.#server = createServer((socket) => this.#take(socket))
    this.#server.maxConnections = connectionsMax
  }

  /** Errors: no place for the socket. */
  static async open(env: Io['env']): Promise<ReceiptInbox> {
    const place = [env.XDG_RUNTIME_DIR, tmpdir(), '/tmp'].find(
      (base) => base && Buffer.byteLength(join(base, 'rouse-qwen-XXXXXX', 'in.sock')) <= pathBytesMax,
    )
    const directory = mkdtempSync(join(place ?? tmpdir(), 'rouse-qwen-'))
    chmodSync(directory, 0o700)
    const inbox = new ReceiptInbox(directory)
    try {
      await new Promise<void>((resolve, reject) => {
        inbox.#server.once('error', reject)
        inbox.#server.listen(inbox.path, resolve)
      })
      chmodSync(inbox.path, 0o600)
      return inbox
    } catch (error) {
      rmSync(directory, { recursive: true, force: true })
      throw error
    }
  }

  get path(): string {
    return join(this.#directory, 'in.sock')
  }

  /** Calls back with each receipt for a message, those that have come already too. Returns what ends that, and forgets the message. */
  follow(msgId: string, noteReceipt: (receipt: Receipt) => void): () => void {
    const id = canonical(msgId)
    this.#listeners.set(id, noteReceipt)
    for (const receipt of this.#receipts.get(id) ?? []) noteReceipt(receipt)
    return () => {
      this.#listeners.delete(id)
      this.#receipts.delete(id)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** The first line must be the token: every process of this user may connect, but only sessions that got a message know the token. */
  #take(socket: Socket): void {
    this.#sockets.add(socket)
    let text = ''
    let isOpen = false
    const timer = setTimeout(() => socket.destroy(), lineMsMax)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length > bytesMax) return void socket.destroy()
      const lines = text.split('\n')
      text = lines.pop()!
      for (const line of lines) {
        if (isOpen) this.#note(line)
        else if (isSame(tokenIn(line) ?? '', this.token)) isOpen = true
        else return void socket.destroy()
      }
    })
    socket.on('end', () => socket.end())
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    })
  }

  #note(line: string): void {
    for (const { msgId, receipt } of receiptsIn(line)) {
      const listener = this.#listeners.get(msgId)
      if (listener) listener(receipt)
      else this.#remember(msgId, receipt)
    }
  }

  /** It may come before the message is followed. */
  #remember(msgId: string, receipt: Receipt): void {
    this.#receipts.set(msgId, [...(this.#receipts.get(msgId) ?? []).slice(-4), receipt])
    if (this.#receipts.size > rememberedMax) this.#receipts.delete(this.#receipts.keys().next().value!)
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [given, token].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}
