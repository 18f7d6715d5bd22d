import type { Socket } from 'node:net'
import { networkOf } from '../security/ip-address.ts'
import type { ConnectionBounds } from './connection-bounds.ts'
import { type ConnectionRefusals, peerOf } from './connections.ts'

/** How often the connections are looked at, in ms, and how many of them in one iteration of the event loop. */
const lookEveryMs = 50
const lookedAtOnce = 500
/** A reader of answers sends a few bytes for each frame that it takes: this part of what it was sent. */
const partOfAnswers = 1 / 8
/** Calls may account for bytes that are read later, up to this: Node stops in the middle of what it has read while it writes. */
const aheadMax = 64 * 1024
/** For how long after the last close new connections of a network wait for each other, and the longest of these waits, in ms. */
const holdMs = 10_000

/** What the calls of a connection account for, in bytes. */
export interface CallTraffic {
  received: number
}

/** The connections of one address share what they may send beside their calls. */
interface Network {
  readonly name: string
  open: number
  /** How many bytes they may still send at `at`. */
  left: number
  at: number
  /** New connections wait for each other until `heldUntil`; the next one is read at `nextAt`. */
  heldUntil: number
  nextAt: number
}

interface Watched extends CallTraffic {
  readonly socket: Socket
  readonly network: Network
  /** What it had sent and was sent at the last look. */
  read: number
  written: number
  /** What it had sent beside its calls at that look, since the one before. */
  beside: number
}

/**
 * Closes gRPC connections that send much beside their calls: frames of HTTP/2 that begin no call, such as WINDOW_UPDATE, PRIORITY or those
 * of unknown types. Node handles each in a microsecond, with or without a key, and reports none of them.
 */
export class GrpcTraffic implements Disposable {
  readonly #bounds: ConnectionBounds
  readonly #refusals: ConnectionRefusals
  readonly #watched = new Map<string, Watched>()
  readonly #networks = new Map<string, Network>()
  /** Connections that wait until they are read. */
  readonly #held = new Set<Socket>()
  #looks: NodeJS.Timeout | undefined
  #next: IterableIterator<Watched> = this.#watched.values()
  #isOver = false

  constructor(bounds: ConnectionBounds, refusals: ConnectionRefusals) {
    this.#bounds = bounds
    this.#refusals = refusals
  }

  /** Calls `read` when a new connection may be read: now, or after others of its network, if one was closed shortly before. */
  admit(socket: Socket, read: () => void): void {
    if (this.#isOver) {
      socket.destroy()
      return
    }
    const network = this.#networkOf(socket)
    const wait = this.#waitIn(network)
    if (wait === 0) {
      read()
      return
    }
    if (wait > holdMs) {
      this.#noteRefusal(network)
      socket.destroy()
      return
    }
    const turn = setTimeout(() => {
      this.#held.delete(socket)
      read()
    }, wait)
    this.#held.add(socket)
    socket.once('close', () => {
      clearTimeout(turn)
      // Its turn is another's.
      if (this.#held.delete(socket)) network.nextAt -= this.#stepMs
    })
  }

  /** Watches a connection until it closes. Called when its calls begin to count, so that what it sent before has calls too. */
  watch(socket: Socket): void {
    const peer = peerOf(socket)
    const network = this.#networkOf(socket)
    const watched = { socket, network, received: 0, read: 0, written: 0, beside: 0 }
    this.#watched.set(peer, watched)
    network.open++
    socket.once('close', () => {
      network.open--
      // The same port may be in use again already.
      if (this.#watched.get(peer) === watched) this.#watched.delete(peer)
      this.#account(watched)
      if (network.left < 0) this.#hold(network)
    })
  }

  /** Returns what is to count the bytes of a connection's calls. */
  of(peer: string): CallTraffic {
    return this.#watched.get(peer) ?? { received: 0 }
  }

  /** Closes the connections that wait, and each new one. */
  [Symbol.dispose](): void {
    this.#isOver = true
    for (const socket of this.#held) socket.destroy()
  }

  get #stepMs(): number {
    return this.#bounds.grpcNextConnection * 1000
  }

  #networkOf(socket: Socket): Network {
    const name = networkOf(socket.remoteAddress ?? '')
    const known = this.#networks.get(name)
    if (known) return known
    const network = { name, open: 0, left: this.#bounds.grpcBeside, at: performance.now(), heldUntil: 0, nextAt: 0 }
    this.#networks.set(name, network)
    // They end when no network is remembered.
    this.#looks ??= setInterval(() => this.#look(), lookEveryMs).unref()
    return network
  }

  /** Returns how long a new connection is to wait, in ms, and takes its turn. */
  #waitIn(network: Network): number {
    const now = performance.now()
    if (now >= network.heldUntil) return 0
    const turn = Math.max(now, network.nextAt)
    if (turn - now <= holdMs) network.nextAt = turn + this.#stepMs
    return turn - now
  }

  #look(): void {
    const senders = new Map<Network, Watched[]>()
    for (let looks = Math.min(lookedAtOnce, this.#watched.size); looks > 0; looks--) {
      const watched = this.#nextToLookAt()
      if (!watched) continue
      this.#account(watched)
      if (watched.beside === 0) continue
      const ofNetwork = senders.get(watched.network)
      if (ofNetwork) ofNetwork.push(watched)
      else senders.set(watched.network, [watched])
    }
    for (const [network, ofNetwork] of senders) if (network.left < 0) this.#closeHeaviest(network, ofNetwork)
    this.#forgetNetworks()
  }

  /** Returns the connection that was not looked at for the longest time. */
  #nextToLookAt(): Watched | undefined {
    const next = this.#next.next()
    if (!next.done) return next.value
    this.#next = this.#watched.values()
    return this.#next.next().value
  }

  /** Takes what a connection has sent beside its calls since the last look from what its network may send. */
  #account(watched: Watched): void {
    const { grpcBeside, grpcBesideRate } = this.#bounds
    const { network, socket } = watched
    const { bytesRead, bytesWritten } = socket
    const accounted = watched.received + (bytesWritten - watched.written) * partOfAnswers
    const beside = bytesRead - watched.read - accounted
    watched.beside = Math.max(0, beside)
    watched.received = Math.min(aheadMax, Math.max(0, -beside))
    watched.read = bytesRead
    watched.written = bytesWritten
    const now = performance.now()
    network.left = Math.min(grpcBeside, network.left + ((now - network.at) / 1000) * grpcBesideRate) - watched.beside
    network.at = now
  }

  /** Closes those that sent the most. An attack over many connections ends with all of them, and one that sent little stays. */
  #closeHeaviest(network: Network, senders: readonly Watched[]): void {
    const most = Math.max(...senders.map(({ beside }) => beside))
    for (const { beside, socket } of senders) if (beside >= most / 2) socket.destroy()
    this.#noteRefusal(network)
    this.#hold(network)
  }

  #noteRefusal({ name }: Network): void {
    this.#refusals.note('grpcBeside', this.#bounds.grpcBeside, name)
  }

  #hold(network: Network): void {
    const now = performance.now()
    network.left = 0
    network.heldUntil = now + holdMs
    network.nextAt = Math.max(now, network.nextAt) + this.#stepMs
  }

  /** Forgets networks without connections that have their whole allowance again. */
  #forgetNetworks(): void {
    const now = performance.now()
    const fullMs = (this.#bounds.grpcBeside / this.#bounds.grpcBesideRate) * 1000
    for (const [name, { open, at, heldUntil }] of this.#networks) {
      if (open === 0 && now > heldUntil && now > at + fullMs) this.#networks.delete(name)
    }
    if (this.#networks.size > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
  }
}
