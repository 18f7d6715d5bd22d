import { createServer, type Server, type Socket } from 'node:net'
import { UsageError } from '../../client/failure.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { type LocalMachine, localAddress, thisMachine } from './address.ts'
import type { AttachedConnection } from './attached-connection.ts'
import { claimSocket } from './claim-socket.ts'
import type { AttachedClient, LocalReport, LocalServer, LocalServerOptions, ReportedConversation } from './clients.ts'
import { LocalConnection, type LocalEvents } from './local-connection.ts'
import type { MessageOf } from './messages.ts'
import { lineOf, localLimits } from './protocol.ts'
import { ReportedConversations } from './reported-conversations.ts'
import { ReportedWakes } from './reported-wakes.ts'

/** The parts that a test replaces beside the options. */
interface World {
  readonly clock?: Clock
  readonly machine?: LocalMachine
}

/**
 * Opens the socket on which programs of ours inside harnesses call this bridge. Only programs of the same user can. Errors: `UsageError`,
 * where a bridge of this user runs, or where the socket cannot be made private.
 */
export async function startLocalServer(options: LocalServerOptions, world: World = {}): Promise<LocalServer> {
  const { clock = systemClock, machine = thisMachine() } = world
  const address = localAddress(options.env, machine)
  if (address === undefined) throw new UsageError('There is no home directory: set HOME or XDG_CONFIG_HOME.')
  // Until the socket is claimed, it has a random name that no client knows.
  let accept = (socket: Socket): unknown => socket.destroy()
  const server = createServer((socket) => accept(socket))
  const removeSocket = await claimSocket(server, address, machine)
  const local = new SocketServer(address.path, server, removeSocket, options, clock)
  accept = (socket) => local.accept(socket)
  return local
}

class SocketServer implements LocalServer {
  readonly address: string
  readonly #server: Server
  readonly #removeSocket: () => void
  readonly #options: LocalServerOptions
  readonly #clock: Clock
  readonly #connections = new Set<LocalConnection>()
  readonly #attached = new Set<AttachedConnection>()
  readonly #wakes = new ReportedWakes()
  readonly #conversations = new ReportedConversations()
  readonly #watchers = new Map<string, Set<() => void>>()
  #isFull = false

  constructor(address: string, server: Server, removeSocket: () => void, options: LocalServerOptions, clock: Clock) {
    this.address = address
    this.#server = server
    this.#removeSocket = removeSocket
    this.#options = options
    this.#clock = clock
    // One connection that cannot be accepted, for want of files, costs only that one.
    server.on('error', (error) => options.note(`The local socket: ${error.message}`))
  }

  attached(harness: string): readonly AttachedClient[] {
    const own = [...this.#attached].filter((client) => client.harness === harness && !client.isOver)
    return own.reverse().map(({ view }) => view)
  }

  reportedConversations(harness: string): readonly ReportedConversation[] {
    return this.#conversations.of(harness)
  }

  onChange(harness: string, changed: () => void): () => void {
    const watcher = () => changed()
    const watchers = this.#watchers.get(harness) ?? new Set()
    this.#watchers.set(harness, watchers.add(watcher))
    return () => watchers.delete(watcher)
  }

  reported(
    wakeId: string,
    isEnough: (report: LocalReport) => boolean,
    signal: AbortSignal,
  ): Promise<LocalReport | undefined> {
    return this.#wakes.reported(wakeId, isEnough, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#removeSocket()
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const connection of [...this.#connections]) connection.close()
    this.#wakes.close()
    await closed
  }

  accept(socket: Socket): void {
    if (this.#connections.size >= localLimits.connections) {
      this.#refuse(socket)
      return
    }
    this.#isFull = false
    const events: LocalEvents = {
      status: this.#options.status,
      prove: ({ agent, run }) => this.#options.prove(agent, run),
      attached: (client) => this.#note(client.harness, () => this.#attached.add(client)),
      changed: (client) => this.#note(client.harness, () => {}),
      gone: (client) => this.#note(client.harness, () => this.#attached.delete(client)),
      reported: ({ type: _type, ...report }) => this.#wakes.note(report, this.#clock.now()),
      hooked: (hook) => this.#hooked(hook),
    }
    const connection = new LocalConnection(socket, events, this.#clock)
    this.#connections.add(connection)
    socket.on('close', () => this.#connections.delete(connection))
  }

  #refuse(socket: Socket): void {
    const reason = `The bridge has ${localLimits.connections} connections.`
    if (!this.#isFull) this.#options.note(`The local socket: ${reason} More are refused.`)
    this.#isFull = true
    socket.on('error', () => {})
    socket.end(lineOf({ type: 'error', error: reason }))
    socket.resume().setTimeout(localLimits.firstLineMs, () => socket.destroy())
  }

  #hooked(hook: MessageOf<'hook'>): void {
    const { harness, event, conversationId, turnId, wakeIds = [] } = hook
    const seen = {
      proof: event,
      ...(conversationId === undefined ? {} : { conversationId }),
      ...(turnId === undefined ? {} : { turnId }),
    }
    const now = this.#clock.now()
    const known = this.reportedConversations(harness).find((one) => one.conversationId === conversationId)
    // A prompt under the id of the running turn began none: its text was put into that one.
    const isPartOfTurn = turnId !== undefined && known?.activeTurnId === turnId
    const step = isPartOfTurn ? ('delivered' as const) : ('turn_started' as const)
    for (const wakeId of wakeIds) this.#wakes.note({ wakeId, step, ...seen }, now)
    this.#note(harness, () => this.#conversations.note(hook, now))
  }

  #note(harness: string, act: () => unknown): void {
    act()
    for (const watcher of [...(this.#watchers.get(harness) ?? [])]) watcher()
  }
}
