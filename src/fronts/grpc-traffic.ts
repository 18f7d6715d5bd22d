import type { Socket } from 'node:net'
import { networkOf } from '../security/ip-address.ts'
import type { ConnectionBounds } from './connection-bounds.ts'
import { type ConnectionRefusals, peerOf } from './connections.ts'

/** How often the connections are looked at, in ms, and how many of them in one iteration of the event loop. */
const lookEveryMs = 50
const lookedAtOnce = 500
/** A reader of answers sends a few bytes for each frame that it takes: this part of what it was sent. */
const partOfAnswers = 1 / 8
/** How long a new connection may wait because of others, in ms. */
const holdMaxMs = 10_000

/** What the calls of a connection account for, in bytes. */
export interface CallTraffic {
  received: number
}

interface Watched extends CallTraffic {
  readonly socket: Socket
  /** How many bytes it may still send beside its calls. */
  left: number
  lookedAt: number
  /** What it had sent and was sent at the last look. */
  read: number
  written: number
}

/** Connections of a network wait for each other after one of them was closed. */
interface Hold {
  nextAt: number
}

/**
 * Closes gRPC connections that send much beside their calls: frames of HTTP/2 that begin no call, such as WINDOW_UPDATE, PRIORITY or those
 * of unknown types. Node handles each in a microsecond, whoever sends it, and reports none of them.
 */
export class GrpcTraffic implements Disposable {
  readonly #bounds: ConnectionBounds
  readonly #refusals: ConnectionRefusals
  readonly #watched = new Map<string, Watched>()
  readonly #holds = new Map<string, Hold>()
  #looks: NodeJS.Timeout | undefined
  #nextLook: IterableIterator<Watched> = this.#watched.values()

  constructor(bounds: ConnectionBounds, refusals: ConnectionRefusals) {
    this.#bounds = bounds
    this.#refusals = refusals
  }

  /**
   * Returns when a new connection may be read, in ms from now: at once, unless one of its network was closed shortly before.
   * undefined: too many others wait for that.
   */
  delayOf({ remoteAddress = '' }: Socket): number | undefined {
    const hold = this.#holds.get(networkOf(remoteAddress))
    const delay = hold ? hold.nextAt - performance.now() : 0
    if (!hold || delay <= 0) return 0
    if (delay > holdMaxMs) return undefined
    hold.nextAt += this.#bounds.grpcNextConnection * 1000
    return delay
  }

  /** Watches a connection until it closes. */
  watch(socket: Socket): void {
    const peer = peerOf(socket)
    const lookedAt = performance.now()
    this.#watched.set(peer, { socket, received: 0, left: this.#bounds.grpcBeside, lookedAt, read: 0, written: 0 })
    socket.once('close', () => this.#forget(peer))
    this.#looks ??= setInterval(() => this.#look(), lookEveryMs).unref()
  }

  /** Returns what is to count the bytes of a connection's calls. */
  of(peer: string): CallTraffic {
    return this.#watched.get(peer) ?? { received: 0 }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looks)
    this.#looks = undefined
  }

  #forget(peer: string): void {
    this.#watched.delete(peer)
    if (this.#watched.size === 0) this[Symbol.dispose]()
  }

  #look(): void {
    const now = performance.now()
    for (let looked = Math.min(lookedAtOnce, this.#watched.size); looked > 0; looked--) {
      const watched = this.#next()
      if (watched && !isWithin(watched, this.#bounds, now)) this.#close(watched.socket, now)
    }
    for (const [network, { nextAt }] of this.#holds) if (nextAt <= now) this.#holds.delete(network)
  }

  /** Returns the connection that was not looked at for the longest time. */
  #next(): Watched | undefined {
    const next = this.#nextLook.next()
    if (!next.done) return next.value
    this.#nextLook = this.#watched.values()
    return this.#nextLook.next().value
  }

  #close(socket: Socket, now: number): void {
    const { remoteAddress = '' } = socket
    const { grpcBeside, grpcNextConnection } = this.#bounds
    this.#refusals.note('grpcBeside', grpcBeside, remoteAddress)
    this.#holds.set(networkOf(remoteAddress), { nextAt: now + grpcNextConnection * 1000 })
    socket.destroy()
  }
}

/** Takes what a connection has sent since the last look from what it may send. Returns whether it has not sent more. */
function isWithin(watched: Watched, { grpcBeside, grpcBesideRate }: ConnectionBounds, now: number): boolean {
  const { bytesRead, bytesWritten } = watched.socket
  const read = bytesRead - watched.read
  const accounted = watched.received + (bytesWritten - watched.written) * partOfAnswers
  const earned = ((now - watched.lookedAt) / 1000) * grpcBesideRate
  const left = Math.min(grpcBeside, watched.left + earned) - Math.max(0, read - accounted)
  Object.assign(watched, { received: 0, left, lookedAt: now, read: bytesRead, written: bytesWritten })
  return left >= 0
}
