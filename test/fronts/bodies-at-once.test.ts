import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { status } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLimits } from '../../src/gateway-limits.ts'
import { inputLimits } from '../../src/limits.ts'
import { bearer, halfSent, type Refusal, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const largest = inputLimits.a2aBody.max
/** So many of the largest bodies one agent may have in memory. */
const few = openLimits.bodiesAtOnce.max / largest
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'small' }] }
const params = { message, configuration: { returnImmediately: true } }
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params })
/** The same call, larger than what goes on without a place. */
const largeCall = call + ' '.repeat(100_000)

let clock: FakeClock
let gateway: TestGateway
let mallory: TestAgent
const opened: ClientRequest[] = []

beforeEach(async () => {
  clock = new FakeClock()
  gateway = await startGateway({ overrides: { clock } })
  await liftRates(gateway)
  mallory = await gateway.addAgent('mallory')
})

afterEach(async () => {
  for (const req of opened.splice(0)) req.destroy()
  await gateway[Symbol.asyncDispose]()
})

/** A request of which the body does not end. `length`: what it announces; undefined: nothing. */
function begin(body: string, length: number | undefined, key = mallory.key) {
  const headers = {
    authorization: `Bearer ${key}`,
    'A2A-Version': '1.0',
    'Content-Type': 'application/json',
    ...(length === undefined ? {} : { 'Content-Length': length }),
  }
  const req = request(`${gateway.url}/agents/mallory`, { method: 'POST', agent: false, headers })
  req.on('error', () => {})
  opened.push(req)
  const answer = once(req, 'response').then(async ([res]: IncomingMessage[]) => {
    const body = JSON.parse(await text(res!))
    return { status: res!.statusCode, body, info: body.error?.data?.[0] }
  })
  answer.catch(() => {})
  req.write(body)
  return { req, answer }
}

const small = async (key: string) => {
  const answer = await begin(call, call.length, key).answer
  expect(answer.body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
}

/** Asks until it is refused, while time passes: what was begun before may not have taken its place yet. */
async function untilRefused<T>(ask: () => Promise<T>, isRefused: (answer: T) => boolean): Promise<T> {
  for (;;) {
    let answer: T | undefined
    void ask().then((given) => (answer = given))
    await until(
      () => {
        clock.advance(10_000)
        return answer
      },
      (given) => given !== undefined,
    )
    if (isRefused(answer!)) return answer!
  }
}

/** A whole large call. */
function send(length: number | undefined, key = mallory.key) {
  const { req, answer } = begin(largeCall, length, key)
  req.end()
  return answer
}

test.each(['announced', 'unknown'])(
  'few large bodies of %s length are read at a time; more wait, and are refused',
  async (what) => {
    const [slowLength, length] = what === 'announced' ? [largest, largeCall.length] : []
    for (const key of [mallory.key, gateway.adminKey]) {
      const slow = Array.from({ length: few }, () => begin(largeCall, slowLength, key))
      const late = await untilRefused(
        () => send(length, key),
        (answer) => answer.status === 429,
      )
      expect(late.info).toMatchObject({ reason: 'RATE_LIMITED', metadata: { limitName: 'bodiesAtOnce' } })
      // What is small does not wait, and neither do others.
      await small(key)
      await small(key === mallory.key ? gateway.adminKey : mallory.key)
      const next = send(length, key)
      slow[0]!.req.destroy()
      expect((await next).body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
      for (const { req } of slow) req.destroy()
    }
  },
)

test('few messages arrive over gRPC at a time, whatever their size; one that has arrived takes the place of its size', async () => {
  const message = { tenant: 'agents/mallory', id: 'none' }
  const sent = bearer(mallory.key)
  using client = rawClient(gateway.grpcTarget)
  const ask = async () => (await client.unary('getTask', message, sent)) as Refusal
  const slow = Array.from({ length: few }, () => halfSent(gateway.grpcTarget, { method: 'getTask', message, sent }))
  const late = await untilRefused(ask, ({ code }) => code !== status.NOT_FOUND)
  expect(late).toMatchObject({ code: status.RESOURCE_EXHAUSTED, info: { limitName: 'bodiesAtOnce' } })
  expect(await slow[0]!.sendRest()).toBe(status.NOT_FOUND)
  for (let asked = 0; asked < 2 * few; asked++) expect((await ask()).code).toBe(status.NOT_FOUND)
  for (const one of slow) one[Symbol.dispose]()
})

test('a body that turned out to be small leaves its place to the next one, and one that was answered too', async () => {
  for (let sent = 0; sent < 3 * few; sent++) {
    expect((await send(undefined)).body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
  }
})
