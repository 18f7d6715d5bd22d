import type { Socket } from 'node:net'
import { type Clock, steadyClock } from '../../lib/clock.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import { networkOf } from '../../security/ip-address.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import { type ConnectionRefusals, peerOf } from '../connections.ts'

/** Calls of a connection that has shown a valid key: many are refused for their rate long before. */
const provenCalls = { size: 2_000, windowMs: 10_000 }
/** Refill of the calls of an address without a valid key, a second. */
const unprovenPerSecond = 10
/**
 * Bytes of a connection that ended without a valid key count as calls, because nothing else sees calls of unknown methods. Those that a
 * connection begins with are free, and one of a few calls uses up no more than most of the bound: it may be a mistake.
 */
const bytesOf = { begin: 1_000, call: 100 } as const
const mistake = { calls: 200, part: 0.9 } as const

interface Connection {
  readonly socket: Socket
  readonly network: string
  /** Ends the connection where no call has shown a valid key. undefined: one has. */
  deadline: NodeJS.Timeout | undefined
}

/**
 * Bounds the calls that each gRPC connection, and each address without a valid key, begins. A call counts when it begins, so that calls
 * that are reset at once count too (CVE-2023-44487). Beyond a bound the connection is closed. As much as one read of a connection has is
 * processed before that, so an address in debt pays more: half of its bound, and all of its connections without a valid key.
 */
export class ConnectionCalls {
  readonly #bounds: ConnectionBounds
  readonly #refusals: ConnectionRefusals
  readonly #clock: Clock
  readonly #connections = new Map<string, Connection>()
  readonly #calls = new TokenBuckets()

  constructor(bounds: ConnectionBounds, refusals: ConnectionRefusals, clock: Clock = steadyClock) {
    this.#bounds = bounds
    this.#refusals = refusals
    this.#clock = clock
  }

  /** Takes a new connection. Returns false where its address may begin no call at the moment: it is closed. */
  accept(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '')
    if (this.#calls.waitMs(network, this.#unproven, this.#clock.now()) > 0) {
      this.#refuse(socket, network)
      return false
    }
    const peer = peerOf(socket)
    const deadline = setTimeout(() => socket.destroy(), this.#bounds.headers * 1000)
    const connection: Connection = { socket, network, deadline }
    this.#connections.set(peer, connection)
    socket.once('close', () => {
      clearTimeout(connection.deadline)
      // The same port may be in use again already.
      if (this.#connections.get(peer) === connection) this.#connections.delete(peer)
      if (connection.deadline) this.#charge(connection)
    })
    return true
  }

  /** Counts a call of a peer (`host:port`). Returns false where its connection is closed: nothing of the call is carried out. */
  begin(peer: string): boolean {
    const connection = this.#connections.get(peer)
    // One read may hold calls that come after the end of their connection.
    if (!connection || connection.socket.destroyed) return false
    const { socket, network, deadline } = connection
    const [key, bucket] = deadline ? ([network, this.#unproven] as const) : ([peer, provenCalls] as const)
    if (this.#calls.spend(key, bucket, this.#clock.now()) === 0) return true
    this.#refuse(socket, network)
    if (deadline) this.#bar(network)
    return false
  }

  /** A call of a peer has shown a valid key: its connection may stay. */
  prove(peer: string): void {
    const connection = this.#connections.get(peer)
    if (!connection?.deadline) return
    clearTimeout(connection.deadline)
    connection.deadline = undefined
    this.#calls.take(connection.network, this.#unproven, this.#clock.now(), -1)
  }

  #charge({ socket, network }: Connection): void {
    if (this.#bounds.connectionsPerAddress === 0) return
    const calls = Math.max(0, socket.bytesRead - bytesOf.begin) / bytesOf.call
    if (calls > mistake.calls) this.#bar(network)
    const most = calls > mistake.calls ? calls : mistake.part * this.#unproven.size
    this.#calls.take(network, this.#unproven, this.#clock.now(), Math.min(calls, most))
  }

  /**
   * Has an address wait until half of its bound would be there again, and closes its connections without a valid key. Where addresses have no
   * bound, it may be that of a proxy with many clients: then each pays for its own calls.
   */
  #bar(network: string): void {
    if (this.#bounds.connectionsPerAddress === 0) return
    this.#calls.take(network, this.#unproven, this.#clock.now(), this.#unproven.size / 2)
    for (const { socket, network: its, deadline } of this.#connections.values()) {
      if (deadline && its === network) socket.destroy()
    }
  }

  get #unproven() {
    const { grpcCalls: size } = this.#bounds
    return { size, windowMs: (size * 1000) / unprovenPerSecond }
  }

  #refuse(socket: Socket, network: string): void {
    this.#refusals.note('grpcCalls', this.#bounds.grpcCalls, network)
    socket.destroy()
  }
}
