import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'

/** The parts of the driver's connection that this file uses. */
interface Connection extends EventEmitter {
  stream: Socket
  ssl: unknown
  _connecting: boolean
  _ending: boolean
  /** The text of each prepared statement by its name. */
  parsedStatements: Record<string, string>
  connect(port: number, host: string): void
  startup(config: Record<string, string>): void
  attachListeners(stream: Socket): void
  end(): void
}

interface Session {
  readonly key: string
  readonly socket: Socket
  /** The server's first answer, with which the next client begins. */
  readonly greeting: Buffer
  /** Its prepared statements, which stay. */
  readonly statements: Record<string, string>
}

/** More are closed: a server that was given has a limited number for all workers. */
const idleMax = process.env.ROUSE_TEST_DATABASE_URL ? 8 : 24
/** `DISCARD ALL` without the prepared statements: the next gateway has the same ones, and preparing them is half the cost of a session. */
const resetQuery = message(
  'Q',
  [
    'close all',
    'set session authorization default',
    'reset all',
    'unlisten *',
    'select pg_advisory_unlock_all()',
    'discard temp',
    'discard sequences',
  ].join(';'),
)
const readyMessage = Buffer.from('Z\0\0\0\x05I', 'latin1')

let port: number | undefined
const idle: Session[] = []
const sessions = new WeakMap<Connection, Session>()
const addresses = new WeakMap<Connection, [port: number, host: string]>()

/**
 * Reuses the sessions of a PostgreSQL server, as a pooler in session mode does: when a client ends, its session is reset, and
 * the next client with the same parameters continues it. Most gateways of the tests live for less time than their server needs
 * to start a session and to read its catalogs. A session that broke, or that cannot be reset, is not reused.
 */
export function reuseSessions(database: URL): void {
  if (port !== undefined) return
  port = Number(database.port)
  const { prototype } = pg.Connection as unknown as { prototype: Connection }
  const { connect, startup, end } = prototype

  prototype.connect = function (...address) {
    if (address[0] !== port || this.ssl) {
      connect.apply(this, address)
      return
    }
    // Which session fits is known when the client sends its parameters.
    addresses.set(this, address)
    this._connecting = true
    process.nextTick(() => this.emit('connect'))
  }

  prototype.startup = function (config) {
    const address = addresses.get(this)
    if (!address) {
      startup.call(this, config)
      return
    }
    const key = JSON.stringify(config)
    const session = take(key)
    if (session) {
      resume(this, session)
      return
    }
    if (this.stream.destroyed) return
    addresses.delete(this)
    noteGreeting(this, key)
    connect.apply(this, address)
  }

  prototype.end = function () {
    const session = sessions.get(this)
    if (!session?.socket.writable) {
      end.call(this)
      return
    }
    this._ending = true
    sessions.delete(this)
    void reset(session).then((isReset) => {
      if (isReset) park(session)
      else session.socket.destroy()
      this.emit('end')
    })
  }
}

function take(key: string): Session | undefined {
  const place = idle.findLastIndex((session) => session.key === key)
  return place < 0 ? undefined : idle.splice(place, 1)[0]
}

function resume(connection: Connection, session: Session): void {
  const { socket, greeting } = session
  socket.removeAllListeners('close').removeAllListeners('error').ref()
  // Each client adds one and leaves it. The first is the socket's own.
  for (const listener of socket.listeners('end').slice(1)) socket.off('end', listener as () => void)
  socket.on('error', (error) => connection.emit('error', error))
  socket.on('close', () => connection.emit('end'))
  connection.stream = socket
  connection.parsedStatements = session.statements
  connection.attachListeners(socket)
  sessions.set(connection, session)
  socket.emit('data', greeting)
}

/** A session is known from the end of the server's first answer. */
function noteGreeting(connection: Connection, key: string): void {
  const { stream: socket } = connection
  const chunks: Buffer[] = []
  const note = (chunk: Buffer): void => {
    chunks.push(chunk)
  }
  socket.prependListener('data', note)
  connection.once('readyForQuery', () => {
    socket.off('data', note)
    sessions.set(connection, { key, socket, greeting: Buffer.concat(chunks), statements: connection.parsedStatements })
  })
}

/** Resolves to false when the session is gone, or was within a transaction. */
function reset({ socket }: Session): Promise<boolean> {
  for (const event of ['data', 'error', 'close', 'drain']) socket.removeAllListeners(event)
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('close', () => resolve(false))
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk])
      const types = messageTypes(answer)
      if (types.includes('Z')) resolve(!types.includes('E') && answer.subarray(-6).equals(readyMessage))
    })
    socket.write(resetQuery)
  })
}

function message(type: string, text: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${text}\0`)
  bytes.writeUInt32BE(bytes.length - 1, 1)
  return bytes
}

/** The first byte of each whole message. */
function messageTypes(bytes: Buffer): string {
  let types = ''
  for (let at = 0; at + 5 <= bytes.length; ) {
    const next = at + 1 + bytes.readUInt32BE(at + 1)
    if (next > bytes.length) break
    types += String.fromCharCode(bytes[at] as number)
    at = next
  }
  return types
}

function park(session: Session): void {
  const { socket } = session
  socket.removeAllListeners('data').removeAllListeners('close').unref()
  socket.on('close', () => {
    const place = idle.indexOf(session)
    if (place >= 0) idle.splice(place, 1)
  })
  idle.push(session)
  if (idle.length > idleMax) idle.shift()?.socket.destroy()
}
