import type { Server, Socket } from 'node:net'
import type { Logger } from '../logger/logger.ts'
import { networkOf } from '../security/ip-address.ts'
import type { ConnectionBounds } from './connection-bounds.ts'

/** A refusal is logged at most once in this time for each limit, so that a flood does not fill the log. */
const logEveryMs = 60_000

/** Logs the connections that are refused or closed because of a limit. */
export class ConnectionRefusals {
  readonly #log: Logger
  readonly #loggedAt = new Map<string, number>()

  constructor(log: Logger) {
    this.#log = log
  }

  note(limit: keyof typeof remedies, max: number, address: string | undefined): void {
    const now = performance.now()
    if (now - (this.#loggedAt.get(limit) ?? Number.NEGATIVE_INFINITY) < logEveryMs) return
    this.#loggedAt.set(limit, now)
    this.#log.warn({ limit, max, address, remedy: remedies[limit] }, 'connection.refused')
  }
}

/** Counts the open connections of each address, over all ports. */
export class Connections {
  readonly #bounds: ConnectionBounds
  readonly #refusals: ConnectionRefusals
  readonly #open = new Map<string, number>()

  constructor(bounds: ConnectionBounds, refusals: ConnectionRefusals) {
    this.#bounds = bounds
    this.#refusals = refusals
  }

  /**
   * Watches the connections of a server that does not listen yet. `ready` is called with each connection when its bytes can be
   * read; with TLS that is after the handshake. Returns a function that ends the running handshakes.
   */
  watch(server: Server, isSecure: boolean, ready: (socket: Socket) => void): () => void {
    const { connections } = this.#bounds
    if (connections > 0) server.maxConnections = connections
    server.on('drop', () => this.#refusals.note('connections', connections, undefined))
    if (!isSecure) {
      server.on('connection', (socket) => {
        if (this.#admit(socket)) ready(socket)
      })
      return () => {}
    }
    const handshakes = new Map<string, Socket>()
    server.on('connection', (socket) => {
      if (!this.#admit(socket)) return
      const peer = peerOf(socket)
      handshakes.set(peer, socket)
      socket.once('close', () => handshakes.delete(peer))
    })
    server.on('secureConnection', (socket: Socket) => {
      handshakes.delete(peerOf(socket))
      ready(socket)
    })
    // A failed handshake is the client's problem. One that takes too long would otherwise stay open.
    server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
    return () => {
      for (const socket of handshakes.values()) socket.destroy()
    }
  }

  /** Counts a connection while it is open, or closes it if its address has too many. */
  #admit(socket: Socket): boolean {
    const { connectionsPerAddress } = this.#bounds
    if (connectionsPerAddress === 0 || socket.remoteAddress === undefined) return true
    const network = networkOf(socket.remoteAddress)
    const open = this.#open.get(network) ?? 0
    if (open >= connectionsPerAddress) {
      socket.destroy()
      this.#refusals.note('connectionsPerAddress', connectionsPerAddress, network)
      return false
    }
    this.#open.set(network, open + 1)
    socket.once('close', () => {
      const left = (this.#open.get(network) ?? 1) - 1
      if (left === 0) this.#open.delete(network)
      else this.#open.set(network, left)
    })
    return true
  }
}

const remedies = {
  connections: 'Raise ROUSE_CONNECTIONS, or find out who holds them.',
  connectionsPerAddress: 'Raise ROUSE_CONNECTIONS_PER_ADDRESS; behind a proxy set it to 0 and count there.',
  grpcCalls: 'Find the program at this address that begins gRPC calls without a valid key, and stop it.',
}

/** Returns `host:port` of the other side, in the form that gRPC uses. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`
}
