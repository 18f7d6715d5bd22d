import { existsSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createConnection } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askStatus } from '../../../src/bridge/local/ask-bridge.ts'
import { callBridge } from '../../../src/bridge/local/call-bridge.ts'
import { hookOf, makeDesk } from './desk.ts'

/** Returns the answer of a bridge to these bytes, until it closes the connection. */
function answerTo(path: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = createConnection(path, () => socket.write(bytes))
    socket.on('error', () => {}).on('close', () => resolve(text))
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  })
}

describe('the local socket as an attacker finds it', () => {
  test('its directory is no symbolic link: neither the bridge nor a client follows one', async () => {
    using desk = makeDesk()
    const directory = dirname(desk.socketPath)
    const elsewhere = join(desk.home, 'elsewhere')
    mkdirSync(elsewhere, { mode: 0o700 })
    mkdirSync(dirname(directory), { recursive: true })
    symlinkSync(elsewhere, directory)
    await expect(desk.open()).rejects.toThrow(/is no directory of this user alone: remove it/)
    expect(await callBridge(desk.env, hookOf({}))).toBe(false)
    rmSync(directory)
    await using _bridge = await desk.open()
    expect(statSync(desk.socketPath).mode & 0o777).toBe(0o600)
  })

  test('a lock that is a link to nowhere is taken away, and what it names is not made', async () => {
    using desk = makeDesk()
    mkdirSync(dirname(desk.socketPath), { recursive: true, mode: 0o700 })
    const victim = join(desk.home, 'victim')
    symlinkSync(victim, join(dirname(desk.socketPath), 'bridge.lock'))
    await using _bridge = await desk.open()
    expect(existsSync(victim)).toBe(false)
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
  })

  test.each([
    ['a line without an end', Buffer.alloc(1_000_000, 'x'), 'too long'],
    ['no JSON', 'hello\n', 'no JSON'],
    ['no object', '[]\n', 'with a type'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x0a]), 'no JSON'],
    ['a number that is none', '{"type":"hook","harness":"codex","event":"x","process":{"pid":1e999}}\n', 'process.pid'],
    ['the key of a prototype', '{"type":"__proto__"}\n', 'type'],
  ])('%s is refused with the reason, and the bridge goes on', async (_what, bytes, reason) => {
    using desk = makeDesk()
    await using _bridge = await desk.open()
    expect(await answerTo(desk.socketPath, bytes)).toContain(reason)
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
  })

  test('ten thousand connections, a thousand at a time, leave it answering', async () => {
    using desk = makeDesk()
    await using _bridge = await desk.open()
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 1_000 }, () => answerTo(desk.socketPath, '{}\n')))
    }
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
  }, 60_000)
})
