import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/lib/json.ts'
import { atTestEnd } from '../../support/ends.ts'

export const trusted = `qpc_${'a1'.repeat(32)}`

/** The ways in which a session of Qwen Code 0.24 takes a message. */
type Policy = 'accept' | 'hold' | 'refuse' | 'expire' | 'drop'

interface Options {
  readonly cwd: string
  readonly policy?: Policy
  /** Its receipts are best effort. */
  readonly losesReceipts?: boolean
  /** Accepts connections, and reads nothing. */
  readonly isStuck?: boolean
}

/** The home of Qwen Code, in which sessions register. */
export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'rq-'))
  mkdirSync(join(home, 'sessions'), { mode: 0o700 })
  atTestEnd(() => rmSync(home, { recursive: true, force: true }))
  return home
}

/**
 * A session of Qwen Code: its record, and its inbox with the rules of its gate. It never answers on a connection, drops one with a wrong
 * token without a word, and repeats its verdict on an id that it knows.
 */
export async function startSession(
  home: string,
  { cwd, policy = 'accept', losesReceipts = false, isStuck = false }: Options,
) {
  const ipcPath = join(home, `${randomUUID().slice(0, 8)}.sock`)
  const file = join(home, 'sessions', `${process.pid}-${randomUUID().slice(0, 8)}.json`)
  const record: JsonObject = {
    schemaVersion: 1,
    pid: process.pid,
    procStart: ownStart(),
    pidNs: Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0]),
    sessionId: randomUUID(),
    cwd,
    name: 'project-3f',
    startedAt: Date.now(),
    qwenVersion: '0.24.4',
    kind: 'tui',
    ipcPath,
    ipcToken: 'c0'.repeat(32),
  }
  const model: string[] = []
  const settled = new Map<string, string>()
  const held: JsonObject[] = []
  const write = (over: JsonObject = {}): void => {
    Object.assign(record, over)
    writeFileSync(file, JSON.stringify(record), { mode: 0o600 })
  }

  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    if (isStuck) return void socket.pause().on('error', () => {})
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    socket.on('error', () => {})
    socket.on('end', () => {
      const [auth, ...frames] = text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as JsonObject)
      if (auth?.type === 'auth' && [trusted, record.ipcToken].includes(auth.token as string)) {
        for (const frame of frames) admit(frame, auth.token === trusted)
      }
      socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(ipcPath, resolve))

  function admit(frame: JsonObject, isController: boolean): void {
    const id = String(frame.msgId)
    const before = settled.get(id)
    if (before) report(frame, before)
    else if (frame.toSessionId !== record.sessionId) settle(frame, 'misaddressed')
    else if (policy === 'drop') report(frame, 'dropped', { dropReason: 'rate-limited', reason: 'too many' })
    else if (policy === 'refuse') settle(frame, 'refused')
    else judge(frame, isController)
  }

  function judge(frame: JsonObject, isController: boolean): void {
    if (policy === 'hold' || policy === 'expire' || !isController) {
      held.push(frame)
      report(frame, 'held')
      if (policy === 'expire') settle(frame, 'expired')
      return
    }
    deliver(frame)
  }

  function deliver(frame: JsonObject): void {
    model.push(String((frame.message as JsonObject).content))
    settle(frame, 'delivered')
  }

  function settle(frame: JsonObject, status: string): void {
    settled.set(String(frame.msgId), status)
    report(frame, status)
  }

  function report(frame: JsonObject, status: string, more: JsonObject = {}): void {
    if (losesReceipts) return
    const auth = { msgV: 1, type: 'auth', token: frame.replyToken }
    const receipt = {
      msgV: 1,
      msgId: randomUUID(),
      type: 'control',
      action: 'delivery_status',
      status,
      origMsgId: frame.msgId,
      reason: `because ${status}`,
      ...more,
    }
    createConnection(String(frame.from))
      .on('error', () => {})
      .end(`${JSON.stringify(auth)}\n${JSON.stringify(receipt)}\n`)
  }

  write()
  atTestEnd(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return {
    record,
    /** The texts that its model was given. */
    model,
    held,
    /** `/clear`: another session under the same process. */
    clear: () => write({ sessionId: randomUUID() }),
    write,
    /** The answer of its user about the messages that wait. */
    decide(what: 'accept' | 'deny'): void {
      for (const frame of held.splice(0)) what === 'accept' ? deliver(frame) : settle(frame, 'denied')
    },
  }
}

function ownStart(): string {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
}
