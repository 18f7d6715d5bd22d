import { expect, test } from 'vitest'
import type { Bus } from '../../src/cluster/bus/bus.ts'
import { ClusterMessages } from '../../src/cluster/messages.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { logLines } from '../support/log-lines.ts'
import { until } from '../support/until.ts'

/** A bus whose deliveries and failures the test decides. */
class TestBus implements Bus {
  readonly published: string[] = []
  failure = 'No answer. Is the server of ROUSE_BUS_URL up, and is the URL right?'
  isCut = false
  #heard = (_: string) => {}
  /** While it is set, a publish waits for it. */
  busy: Promise<void> | undefined

  connected: Promise<void> = Promise.resolve()

  async start(heard: (message: string) => void): Promise<void> {
    this.#heard = heard
    await this.connected
  }

  async publish(message: string): Promise<void> {
    if (this.isCut) throw new Error('cut')
    this.published.push(message)
    this.#heard(message)
    await this.busy
  }

  deliver(message: string): void {
    this.#heard(message)
  }

  reconnects = 0

  reconnect(): void {
    this.reconnects++
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function open() {
  const bus = new TestBus()
  const clock = new FakeClock()
  const heard: string[] = []
  const handlers = {
    grown: (keys: readonly string[]) => heard.push(`grown ${keys.join()}`),
    changed: (ids: readonly string[]) => heard.push(`changed ${ids.join()}`),
    revoked: (ids: readonly string[]) => heard.push(`revoked ${ids.join()}`),
    due: () => heard.push('due'),
    missed: () => heard.push('missed'),
  }
  const nudges = new ClusterMessages(bus, 'me', handlers, clock, silentLogger)
  nudges.start()
  return { bus, clock, heard, nudges, [Symbol.asyncDispose]: () => nudges.stop() }
}

const iteration = () => new Promise(setImmediate)
const published = (bus: TestBus) =>
  bus.published.map((text) => JSON.parse(text)).filter(({ grown }) => grown?.length !== 0)
const from = (who: string, message: object) => JSON.stringify({ from: who, grown: [], changed: [], ...message })

test('everything in one iteration of the event loop is one message, with each key once', async () => {
  await using one = open()
  for (const key of ['p', 'task-1', 'p', 'task-2']) one.nudges.grown([key])
  one.nudges.changed('WAKE_SUB:1')
  await iteration()
  expect(published(one.bus)).toEqual([{ from: 'me', grown: ['p', 'task-1', 'task-2'], changed: ['WAKE_SUB:1'] }])
})

test('a due subscription is published once, and reaches the peers', async () => {
  await using one = open()
  one.nudges.due()
  one.nudges.due()
  await iteration()
  const said = one.bus.published.map((text) => JSON.parse(text)).filter(({ due }) => due)
  expect(said).toEqual([{ from: 'me', grown: [], changed: [], due: true }])
  one.bus.deliver(from('another', { due: true }))
  expect(one.heard).toEqual(['due'])
})

test('revocations are published in messages that fit, and handled before growth', async () => {
  await using one = open()
  const ids = Array.from({ length: 100 }, (_, i) => `01J${String(i).padStart(23, '0')}`)
  one.nudges.revoked(ids)
  one.nudges.revoked(ids)
  await iteration()
  await iteration()
  const said = one.bus.published.map((text) => JSON.parse(text)).filter(({ revoked }) => revoked)
  expect(said.flatMap(({ revoked }) => revoked)).toEqual(ids)
  expect(Math.max(...one.bus.published.map((text) => Buffer.byteLength(text)))).toBeLessThan(7_900 + 1)
  one.bus.deliver(from('another', { grown: ['p'], revoked: ['key-1'] }))
  expect(one.heard).toEqual(['revoked key-1', 'grown p'])
  one.bus.deliver(from('another', { revoked: 'key-1' }))
  expect(one.heard).toHaveLength(2)
})

test('while a message is on its way the next ones gather', async () => {
  await using one = open()
  let free = () => {}
  one.bus.busy = new Promise((resolve) => {
    free = resolve
  })
  one.nudges.grown(['a'])
  await iteration()
  for (let i = 0; i < 1000; i++) {
    one.nudges.grown([`k${i % 7}`])
    await iteration()
  }
  expect(published(one.bus)).toHaveLength(1)
  one.bus.busy = undefined
  free()
  await until(
    () => published(one.bus).length,
    (count) => count === 2,
  )
  expect(published(one.bus)[1].grown).toHaveLength(7)
})

test('more ids than fit become a message to look everywhere; changes are still published one by one', async () => {
  await using one = open()
  one.nudges.grown(Array.from({ length: 1000 }, (_, i) => `task-${i}`))
  for (let i = 0; i < 250; i++) one.nudges.changed(`WAKE_SUB:${i}`)
  await until(
    () => published(one.bus).length,
    (count) => count === 1,
  )
  await iteration()
  const messages = one.bus.published.map((text) => JSON.parse(text))
  expect(messages.flatMap(({ changed }) => changed)).toHaveLength(250)
  expect(messages.some(({ grown }) => grown === null)).toBe(true)
  expect(one.bus.published.every((text) => Buffer.byteLength(text) <= 7_900)).toBe(true)
})

test('messages of peers are handled; own and foreign messages are not', async () => {
  await using one = open()
  one.bus.deliver(from('other', { grown: ['p'], changed: ['WAKE_SUB:1'] }))
  one.bus.deliver(from('me', { grown: ['mine'] }))
  one.bus.deliver(from('other', { grown: null }))
  for (const noise of ['', 'PING', '{}', '[]', 'null', '{"from":1}']) one.bus.deliver(noise)
  expect(one.heard).toEqual(['grown p', 'changed WAKE_SUB:1', 'missed'])
})

const id = 'x'.repeat(200 + 1)

test.each([
  ['no text of JSON', 'PING'],
  ['no object', '"other"'],
  ['null', 'null'],
  ['a list', '[]'],
  ['no sender', '{"grown":["p"],"changed":[]}'],
  ['a sender that is no text', '{"from":{},"grown":["p"],"changed":[]}'],
  ['keys that are no list', from('other', { grown: 'p' })],
  ['keys that are no texts', from('other', { grown: [{ toString: 1 }] })],
  ['keys under indexes', from('other', { grown: { 0: 'p', length: 1 } })],
  ['changes that are null', from('other', { changed: null })],
  ['an empty id', from('other', { changed: [''] })],
  ['an id that is too long', from('other', { grown: ['p'], changed: [id] })],
  ['a flag that is none', from('other', { grown: ['p'], due: 'yes' })],
  ['more than a bus carries', from('other', { grown: ['p'], more: 'x'.repeat(7_900) })],
  ['deeper than a stack', `${'['.repeat(3_000)}${']'.repeat(3_000)}`],
])('an invalid message on the bus is ignored as a whole: %s', async (_what, text) => {
  await using one = open()
  one.bus.deliver(text)
  expect(one.heard).toEqual([])
  one.bus.deliver(from('other', { grown: ['q'] }))
  expect(one.heard).toEqual(['grown q'])
})

test('a field that is missing is empty: the gateway of another build may not know it', async () => {
  await using one = open()
  one.bus.deliver('{"from":"x","changed":[]}')
  one.bus.deliver('{"from":"x","changed":["WAKE_SUB:1"],"unheardOf":1}')
  expect(one.heard).toEqual(['changed WAKE_SUB:1'])
})

test('a handler that throws is logged, and never reaches the bus', async () => {
  const bus = new TestBus()
  const errors: string[] = []
  const log = { ...silentLogger, error: (_fields: object, event: string) => void errors.push(event) }
  const fail = () => {
    throw new Error('not today')
  }
  const handlers = { grown: fail, changed: fail, revoked: fail, due: fail, missed: fail }
  await using nudges = new ClusterMessages(bus, 'me', handlers, new FakeClock(), log)
  nudges.start()
  bus.deliver(from('other', { grown: ['p'] }))
  bus.deliver(from('other', { due: true }))
  expect(errors).toEqual(['bus.message_failed', 'bus.message_failed'])
})

test('a bus that loses messages is noticed, and everything is checked until it works again', async () => {
  await using one = open()
  await iteration()
  one.clock.advance(5_000)
  await iteration()
  expect(one.nudges.isAlive).toBe(true)
  expect(one.heard).toEqual([])
  one.bus.isCut = true
  one.nudges.grown(['lost'])
  await iteration()
  one.clock.advance(5_000) // this trial was made before the cut
  await iteration()
  one.clock.advance(5_000)
  await until(
    () => one.nudges.isAlive,
    (alive) => !alive,
  )
  expect(one.heard.at(-1)).toBe('missed')
  one.bus.isCut = false
  await iteration()
  one.clock.advance(5_000)
  await iteration()
  one.clock.advance(5_000)
  await until(
    () => one.nudges.isAlive,
    (alive) => alive,
  )
  expect(one.heard.at(-1)).toBe('missed')
  const heardBy = one.heard.length
  await iteration()
  one.clock.advance(5_000)
  await iteration()
  expect(one.heard).toHaveLength(heardBy)
})

test('a bus that is still connecting is not lost; one that does not connect in time is', async () => {
  const bus = new TestBus()
  let connect = () => {}
  bus.connected = new Promise((resolve) => {
    connect = resolve
  })
  const clock = new FakeClock()
  const { log, lines } = logLines()
  const quiet = { grown() {}, changed() {}, revoked() {}, due() {}, missed() {} }
  await using nudges = new ClusterMessages(bus, 'me', quiet, clock, log)
  nudges.start()
  await iteration()
  clock.advance(4_999)
  await iteration()
  expect([lines, bus.published]).toEqual([[], []])
  clock.advance(1)
  await iteration()
  const lost = { level: 'warn', event: 'bus.lost', reason: bus.failure }
  expect(lines).toEqual([lost])
  connect()
  await iteration()
  clock.advance(5_000)
  await iteration()
  expect(lines).toEqual([lost, { level: 'warn', event: 'bus.recovered' }])
})
