import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { AttachedConnection } from './attached-connection.ts'
import { LineSplitter, LineTooLong } from './line-splitter.ts'
import { type ClientMessage, type MessageOf, readMessage } from './messages.ts'
import type { ProofState } from './protocol.ts'
import { type BridgeMessage, lineOf, localLimits } from './protocol.ts'

/** The handlers of the bridge for the words of its clients. */
export interface LocalEvents {
  attached(client: AttachedConnection): void
  changed(client: AttachedConnection): void
  gone(client: AttachedConnection): void
  reported(report: MessageOf<'report'>): void
  hooked(hook: MessageOf<'hook'>): void
  status(): Promise<object>
  prove(asked: MessageOf<'prove'>): Promise<ProofState>
}

/** The most bytes that a client may leave unread: a wake has two kilobytes, the status of a thousand agents a megabyte. */
const unreadBytesMax = 4 * 1_048_576

/** One connection of a client, at the side of the bridge. */
export class LocalConnection {
  readonly #socket: Socket
  readonly #events: LocalEvents
  readonly #clock: Clock
  readonly #lines = new LineSplitter(localLimits.lineBytes)
  #client: AttachedConnection | undefined
  /** ms since the epoch */
  #heardAt: number
  #cancelTimer: () => void

  constructor(socket: Socket, events: LocalEvents, clock: Clock) {
    this.#socket = socket
    this.#events = events
    this.#clock = clock
    this.#heardAt = clock.now()
    this.#cancelTimer = clock.after(localLimits.firstLineMs, () => this.#expire())
    socket.on('data', (chunk) => this.#read(chunk))
    // Its close follows.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#cancelTimer()
      this.#client?.gone()
      if (this.#client) this.#events.gone(this.#client)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    try {
      for (const line of this.#lines.push(chunk)) {
        if (this.#socket.destroyed || this.#socket.writableEnded) return
        this.#heardAt = this.#clock.now()
        const message = readMessage(line)
        const refusal = 'error' in message ? message.error : this.#act(message)
        if (refusal !== undefined) this.#refuse(refusal)
      }
    } catch (error) {
      this.#refuse(error instanceof LineTooLong ? `The line is too long: ${error.message}.` : 'The bridge has failed.')
    }
  }

  /** Returns why a message is refused. */
  #act(message: ClientMessage): string | undefined {
    if (message.type === 'report') this.#events.reported(message)
    else if (message.type === 'hook') this.#events.hooked(message)
    else if (message.type === 'status') void this.#tellStatus()
    else if (message.type === 'prove') void this.#tellProof(message)
    else if (message.type === 'attach') return this.#attach(message)
    else if (!this.#client) return `type: "${message.type}" comes after "attach".`
    else this.#actOf(this.#client, message)
    return undefined
  }

  /** Never rejects. */
  async #tellStatus(): Promise<void> {
    try {
      this.#write({ type: 'status', status: await this.#events.status() })
    } catch {
      this.#refuse('The bridge cannot tell its status now.')
    }
  }

  /** Never rejects. */
  async #tellProof(asked: MessageOf<'prove'>): Promise<void> {
    try {
      this.#write({ type: 'proof', ...(await this.#events.prove(asked)) })
    } catch {
      this.#refuse('The bridge cannot prove a recipe now.')
    }
  }

  #actOf(client: AttachedConnection, message: MessageOf<'change' | 'taken' | 'declined' | 'answer' | 'pong'>): void {
    if (message.type === 'taken') client.taken(message)
    if (message.type === 'declined') client.declined(message)
    if (message.type === 'answer') client.answered(message)
    if (message.type === 'change') {
      client.change(message)
      this.#events.changed(client)
    }
  }

  #attach(message: MessageOf<'attach'>): string | undefined {
    if (this.#client) return 'type: this connection has attached. Another conversation takes another connection.'
    this.#client = new AttachedConnection(message, (said) => this.#write(said), this.#clock)
    this.#write({ type: 'attached' })
    this.#events.attached(this.#client)
    this.#cancelTimer()
    this.#cancelTimer = this.#clock.after(localLimits.pingMs, () => this.#ping())
    return undefined
  }

  #ping(): void {
    if (this.#clock.now() - this.#heardAt >= localLimits.silenceMs) {
      this.close()
      return
    }
    this.#write({ type: 'ping' })
    this.#cancelTimer = this.#clock.after(localLimits.pingMs, () => this.#ping())
  }

  /** A client that has not attached sends one message, and ends. */
  #expire(): void {
    this.#refuse(`No complete line within ${localLimits.firstLineMs / 1000} s.`)
  }

  #refuse(error: string): void {
    this.#write({ type: 'error', error })
    this.#cancelTimer()
    // A client that does not read the end is not waited for.
    this.#cancelTimer = this.#clock.after(localLimits.firstLineMs, () => this.close())
    this.#socket.end()
  }

  #write(message: BridgeMessage): void {
    if (this.#socket.writable) this.#socket.write(lineOf(message))
    if (this.#socket.writableLength > unreadBytesMax) this.close()
  }
}
