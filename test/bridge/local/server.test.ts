import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { localAddress } from '../../../src/bridge/local/address.ts'
import { askStatus } from '../../../src/bridge/local/ask-bridge.ts'
import { callBridge } from '../../../src/bridge/local/call-bridge.ts'
import { localLimits } from '../../../src/bridge/local/protocol.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { hookOf, makeDesk, rawClient, wakeOf } from './desk.ts'

const late = () => AbortSignal.timeout(60_000)
const isAny = () => true

describe('the socket', () => {
  test('is its user’s alone, also in a directory that was open before', async () => {
    using desk = makeDesk()
    mkdirSync(dirname(desk.socketPath), { recursive: true, mode: 0o755 })
    await using server = await desk.open()
    expect(server.address).toBe(desk.socketPath)
    expect(lstatSync(server.address).mode & 0o777).toBe(0o600)
    expect(lstatSync(dirname(server.address)).mode & 0o777).toBe(0o700)
  })

  test('of a bridge that lives is refused to another one, with the remedy', async () => {
    using desk = makeDesk()
    await using server = await desk.open()
    await expect(desk.open()).rejects.toThrow(/runs already .*rouse bridge status/)
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
    expect(server.attached('claude')).toEqual([])
  })

  test('of a bridge that died is replaced, and its lock too', async () => {
    using desk = makeDesk()
    const dead = createServer()
    mkdirSync(dirname(desk.socketPath), { recursive: true, mode: 0o700 })
    await new Promise<void>((listening) => dead.listen(`${desk.socketPath}.dead`, listening))
    // A socket whose process has ended: the file stays, and nobody accepts.
    renameSync(`${desk.socketPath}.dead`, desk.socketPath)
    await new Promise((closed) => dead.close(closed))
    expect(existsSync(desk.socketPath)).toBe(true)
    const lock = join(dirname(desk.socketPath), 'bridge.lock')
    writeFileSync(lock, '')
    utimesSync(lock, 0, 0)
    await using _server = await desk.open()
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
  })

  test('goes with its bridge, and no file is left', async () => {
    using desk = makeDesk()
    const server = await desk.open()
    await server[Symbol.asyncDispose]()
    expect(readdirSync(dirname(desk.socketPath))).toEqual([])
    expect(await callBridge(desk.env, hookOf({}))).toBe(false)
  })

  test('two bridges that start at the same time: one of them runs', async () => {
    using desk = makeDesk()
    const started = await Promise.allSettled([desk.open(), desk.open(), desk.open()])
    const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(servers).toHaveLength(1)
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
    await servers[0]![Symbol.asyncDispose]()
  })

  test('has a short path where the home directory has a long one', () => {
    const env = { HOME: `/home/${'x'.repeat(90)}` }
    const { path } = localAddress(env, { platform: 'linux', uid: 1000 })!
    expect(path).toMatch(/^\/tmp\/rouse-1000\/[0-9a-f]{16}\.sock$/)
    expect(localAddress({ HOME: '/home/u' }, { platform: 'linux', uid: 1000 })).toEqual({
      path: '/home/u/.config/rouse/run/bridge.sock',
      directory: '/home/u/.config/rouse/run',
    })
    expect(localAddress({ USERPROFILE: 'C:\\u' }, { platform: 'win32', uid: -1 })?.path).toMatch(
      /^\\\\\.\\pipe\\rouse-/,
    )
    expect(localAddress({}, { platform: 'linux', uid: 1000 })).toBeUndefined()
  })

  test.each([
    ['others may enter', (path: string) => chmodSync(path, 0o777)],
    [
      'is a link',
      (path: string) => {
        renameSync(path, `${path}-other`)
        symlinkSync(`${path}-other`, path)
      },
    ],
  ])('a hook does not call one in a directory that %s', async (_what, make) => {
    using desk = makeDesk()
    mkdirSync(dirname(desk.socketPath), { recursive: true, mode: 0o700 })
    make(dirname(desk.socketPath))
    const calls: unknown[] = []
    const foreign = createServer((socket) => calls.push(socket.destroy()))
    await new Promise<void>((listening) => foreign.listen(desk.socketPath, listening))
    expect(await callBridge(desk.env, hookOf({}))).toBe(false)
    await new Promise((closed) => foreign.close(closed))
    expect(calls).toEqual([])
  })
})

describe('a call without a bridge', () => {
  test('returns at once', async () => {
    using desk = makeDesk()
    await callBridge(desk.env, hookOf({}))
    const startedAt = performance.now()
    expect(await callBridge(desk.env, hookOf({}))).toBe(false)
    expect(performance.now() - startedAt).toBeLessThan(20)
    expect(await callBridge({}, hookOf({}))).toBe(false)
  })

  test('of one that hangs ends in time', async () => {
    using desk = makeDesk()
    mkdirSync(dirname(desk.socketPath), { recursive: true, mode: 0o700 })
    const silent = createServer((socket) => socket.resume())
    await new Promise<void>((listening) => silent.listen(desk.socketPath, listening))
    expect(await askStatus(desk.env, 30)).toBeUndefined()
    const closed = new Promise((done) => silent.close(done))
    await closed
  })
})

describe('what hooks say', () => {
  test('a wake that began a turn is reported to who waits for it, and to who asks later', async () => {
    using desk = makeDesk()
    await using server = await desk.open()
    const wake = wakeOf()
    const waiting = server.reported(wake.id, ({ step }) => step === 'turn_started', late())
    await callBridge(desk.env, hookOf({ wakeIds: [wake.id], turnId: 'turn-1' }))
    const report = {
      wakeId: wake.id,
      step: 'turn_started',
      proof: 'UserPromptSubmit',
      conversationId: 'c1',
      turnId: 'turn-1',
    }
    expect(await waiting).toEqual(report)
    expect(await server.reported(wake.id, isAny, late())).toEqual(report)
    expect(await server.reported(wake.id, () => false, AbortSignal.timeout(1))).toBeUndefined()
  })

  test('a report is not kept for ever', async () => {
    using desk = makeDesk()
    const clock = new FakeClock()
    await using server = await desk.open({ clock })
    const [old, fresh] = [wakeOf(), wakeOf()]
    await callBridge(desk.env, hookOf({ wakeIds: [old.id] }))
    await server.reported(old.id, isAny, late())
    clock.advance(11 * 60_000)
    await callBridge(desk.env, hookOf({ wakeIds: [fresh.id] }))
    await server.reported(fresh.id, isAny, late())
    expect(await server.reported(old.id, isAny, AbortSignal.timeout(1))).toBeUndefined()
  })

  test('the state of a conversation is that of its last event; its end by another process is none', async () => {
    using desk = makeDesk()
    await using server = await desk.open()
    let changes = 0
    const stop = server.onChange('claude', () => (changes += 1))
    const tell = async (more: Parameters<typeof hookOf>[0]) => {
      const before = changes
      await callBridge(desk.env, hookOf(more))
      await until(
        () => changes,
        (count) => count > before,
      )
      return server.reportedConversations('claude')
    }
    const process = { pid: 7 }
    expect(await tell({ state: 'active', turnId: 't1', process })).toMatchObject([
      { state: 'active', activeTurnId: 't1' },
    ])
    expect(await tell({ event: 'PostToolUse', state: 'active' })).toMatchObject([{ activeTurnId: 't1', process }])
    const [rests] = await tell({ event: 'Stop', state: 'idle', turnId: 't1' })
    expect(rests).toMatchObject({ state: 'idle', event: 'Stop' })
    expect(rests).not.toHaveProperty('activeTurnId')
    expect(await tell({ event: 'SessionEnd', ends: true, process: { pid: 8 } })).toHaveLength(1)
    expect(await tell({ event: 'SessionEnd', ends: true, process })).toEqual([])
    stop()
  })
})

describe('who attaches', () => {
  const monitor = { type: 'attach', harness: 'claude', conversationId: 'c1', route: 'monitor' }

  test('gets a wake, and says that it has it', async () => {
    using desk = makeDesk()
    await using server = await desk.open()
    await using client = await rawClient(desk)
    expect(await client.ask(monitor)).toEqual({ type: 'attached' })
    const wake = wakeOf()
    const sent = server.attached('claude')[0]!.send(wake)
    expect(await client.next()).toEqual({ type: 'wake', wake })
    client.say({ type: 'taken', wakeId: wake.id })
    await sent
    const again = server.attached('claude')[0]!.send(wakeOf())
    const { wake: second } = (await client.next()) as { wake: { id: string } }
    client.say({ type: 'declined', wakeId: second.id, reason: 'the session has ended' })
    await expect(again).rejects.toThrow('the session has ended')
  })

  test('and goes without an answer has not taken it', async () => {
    using desk = makeDesk()
    await using server = await desk.open()
    await using client = await rawClient(desk)
    await client.ask(monitor)
    const [attached] = server.attached('claude')
    const sent = attached!.send(wakeOf())
    await client.next()
    client.close()
    await expect(sent).rejects.toThrow('has gone before')
    await expect(attached!.send(wakeOf())).rejects.toThrow('gone')
    expect(server.attached('claude')).toEqual([])
  })

  test('and does not answer is given up', async () => {
    using desk = makeDesk()
    const clock = new FakeClock()
    await using server = await desk.open({ clock })
    await using client = await rawClient(desk)
    await client.ask(monitor)
    const sent = server.attached('claude')[0]!.send(wakeOf())
    await client.next()
    clock.advance(localLimits.takenMs)
    await expect(sent).rejects.toThrow('has not said within 10 s')
  })

  test('and says until when it listens is not there after that', async () => {
    using desk = makeDesk()
    const clock = new FakeClock()
    await using server = await desk.open({ clock })
    await using client = await rawClient(desk)
    await client.ask({ ...monitor, route: 'rewake', until: new Date(clock.now() + 5_000).toISOString() })
    expect(server.attached('claude')).toHaveLength(1)
    clock.advance(5_000)
    expect(server.attached('claude')).toEqual([])
  })

  test('may change its conversation, its state and its turn; the newest is the first', async () => {
    using desk = makeDesk()
    await using server = await desk.open()
    await using client = await rawClient(desk)
    await client.ask({ ...monitor, state: 'active', activeTurnId: 't1' })
    await using other = await rawClient(desk)
    await other.ask({ ...monitor, conversationId: 'c2' })
    let changes = 0
    server.onChange('claude', () => (changes += 1))
    client.say({ type: 'change', conversationId: 'c3', state: 'idle', activeTurnId: null })
    await until(
      () => changes,
      (count) => count === 1,
    )
    const [newest, oldest] = server.attached('claude')
    expect([newest!.conversationId, oldest!.conversationId, oldest!.state]).toEqual(['c2', 'c3', 'idle'])
    expect(oldest).not.toHaveProperty('activeTurnId')
    expect(server.attached('copilot')).toEqual([])
  })

  test('gets a probe, and is dropped when it hangs', async () => {
    using desk = makeDesk()
    const clock = new FakeClock()
    await using server = await desk.open({ clock })
    await using client = await rawClient(desk)
    await client.ask(monitor)
    clock.advance(localLimits.pingMs)
    expect(await client.next()).toEqual({ type: 'ping' })
    clock.advance(localLimits.silenceMs)
    await client.closed
    await until(
      () => server.attached('claude').length,
      (count) => count === 0,
    )
  })
})

describe('a client that is wrong', () => {
  test.each([
    ['what is no JSON', 'hello\n', /no JSON/],
    ['no object', '[]\n', /no JSON object|Invalid/],
    ['an unknown type', '{"type":"shell"}\n', /type/],
    [
      'a harness whose name is none',
      '{"type":"attach","harness":"No Harness","conversationId":"c","route":"monitor"}\n',
      /^harness: /,
    ],
    ['a wake id that is none', '{"type":"report","wakeId":"x","step":"seen","proof":"p"}\n', /^wakeId: /],
    ['an answer before it attached', '{"type":"pong"}\n', /comes after "attach"/],
    ['a line that is too long', `{"type":"status","x":"${'x'.repeat(70_000)}"}\n`, /too long/],
    ['a line without an end', 'x'.repeat(70_000), /too long/],
  ])('that sends %s gets one error, and the end', async (_what, text, error) => {
    using desk = makeDesk()
    await using server = await desk.open()
    await using client = await rawClient(desk)
    client.send(text)
    expect(await client.next()).toEqual({ type: 'error', error: expect.stringMatching(error) })
    await client.closed
    expect(await askStatus(desk.env)).toEqual({ agents: 1 })
    expect(server.attached('claude')).toEqual([])
  })

  test('that says nothing is closed after ten seconds', async () => {
    using desk = makeDesk()
    const clock = new FakeClock()
    await using _server = await desk.open({ clock })
    await using client = await rawClient(desk)
    client.send('{"type":')
    await until(
      () => clock.timerCount,
      (count) => count > 0,
    )
    clock.advance(localLimits.firstLineMs)
    expect(await client.next()).toMatchObject({ type: 'error', error: 'No complete line within 10 s.' })
    await client.closed
  })

  test('the one above the greatest number gets an error, and room comes again', async () => {
    using desk = makeDesk()
    await using _server = await desk.open()
    const open: Socket[] = []
    while (open.length < localLimits.connections) {
      const socket = createConnection(desk.socketPath)
      await once(socket, 'connect')
      open.push(socket)
    }
    await using extra = await rawClient(desk)
    expect(await extra.next()).toEqual({ type: 'error', error: 'The bridge has 1000 connections.' })
    for (const socket of open) socket.destroy()
    await until(
      () => askStatus(desk.env),
      (status) => status !== undefined,
    )
  })
})

test('a bridge that ends leaves nobody waiting', async () => {
  using desk = makeDesk()
  const server = await desk.open()
  const waiting = server.reported(wakeOf().id, isAny, late())
  await using client = await rawClient(desk)
  await client.ask({ type: 'attach', harness: 'copilot', conversationId: 'c', route: 'extension' })
  const sent = server.attached('copilot')[0]!.send(wakeOf())
  const refused = expect(sent).rejects.toThrow('gone')
  await server[Symbol.asyncDispose]()
  await refused
  expect(await waiting).toBeUndefined()
  await client.closed
})
