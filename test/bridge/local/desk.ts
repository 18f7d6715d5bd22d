import { createConnection } from 'node:net'
import { ulid } from 'ulid'
import type { OutgoingWake } from '../../../src/bridge/adapter.ts'
import { localAddress, thisMachine } from '../../../src/bridge/local/address.ts'
import type { LocalServer } from '../../../src/bridge/local/clients.ts'
import type { MessageOf } from '../../../src/bridge/local/messages.ts'
import { startLocalServer } from '../../../src/bridge/local/server.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { until } from '../../support/until.ts'
import { noProof } from './no-proof.ts'

/** A home directory in which a bridge listens. */
export interface Desk extends Disposable {
  readonly home: string
  readonly env: Record<string, string>
  readonly socketPath: string
  open(world?: { clock?: Clock }): Promise<LocalServer>
}

export function makeDesk(): Desk {
  const directory = dataDirectory()
  const env = { HOME: directory.path }
  return {
    home: directory.path,
    env,
    socketPath: localAddress(env, thisMachine())!.path,
    open: (world) =>
      startLocalServer({ env, status: async () => ({ agents: 1 }), prove: noProof, note: () => {} }, world),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

export function wakeOf(id = ulid()): OutgoingWake {
  return { id, text: `[Rouse ${id}] New message from @alice.`, lines: `[Rouse ${id}]\nNew message from @alice.` }
}

export function hookOf(more: Partial<MessageOf<'hook'>>): MessageOf<'hook'> {
  return { type: 'hook', harness: 'claude', event: 'UserPromptSubmit', conversationId: 'c1', ...more }
}

/** A client by hand: what it sends is what the test says. */
export async function rawClient(desk: Desk) {
  const socket = createConnection(desk.socketPath)
  const closed = new Promise<void>((done) => socket.once('close', () => done()))
  let text = ''
  const lines: unknown[] = []
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (text + chunk).split('\n')
    text = parts.pop()!
    lines.push(...parts.map((part) => JSON.parse(part)))
  })
  await new Promise((connected) => socket.once('connect', connected))
  const next = async () => {
    await until(
      () => lines.length,
      (count) => count > 0,
    )
    return lines.shift()
  }
  const say = (message: object) => void socket.write(`${JSON.stringify(message)}\n`)
  return {
    closed,
    next,
    say,
    send: (sent: string) => void socket.write(sent),
    ask: (message: object) => {
      say(message)
      return next()
    },
    close: () => void socket.destroy(),
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await closed
    },
  }
}
