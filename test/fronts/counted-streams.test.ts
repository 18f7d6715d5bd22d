import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const MB = 1_000_000

interface World extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly clock: FakeClock
  readonly mallory: TestAgent
  readonly taskId: string
}

/** A task that mallory sent to donna. Time stands still, so it and the operator count as active. */
async function openWorld(limits: object): Promise<World> {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('donna')
  const mallory = await gateway.addAgent('mallory')
  const { id: taskId } = await gateway.send('donna', 'make a lot', { key: mallory.key })
  await gateway.call('PATCH', '/v1/projects/default', { limits })
  return { gateway, clock, mallory, taskId, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

/** The operator adds an artifact: that counts for no agent. */
async function addArtifact({ gateway, taskId }: World, bytes: number): Promise<void> {
  const artifact = { parts: [{ text: 'x'.repeat(bytes) }] }
  expect((await gateway.call('POST', `/v1/tasks/${taskId}/artifacts`, { artifact })).status).toBe(201)
}

interface Stream extends Disposable {
  /** The bytes that have come. */
  bytes: number
  isOver: boolean
}

type Binding = 'JSON-RPC' | 'HTTP+JSON'

async function subscribe({ gateway, mallory, taskId }: World, binding: Binding): Promise<Stream> {
  const closing = new AbortController()
  const isRpc = binding === 'JSON-RPC'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: taskId } })
  const response = await fetch(`${gateway.url}/agents/donna${isRpc ? '' : `/tasks/${taskId}:subscribe`}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${mallory.key}`, 'A2A-Version': '1.0', 'content-type': 'application/json' },
    ...(isRpc ? { body } : {}),
    signal: closing.signal,
  })
  expect(response.status).toBe(200)
  const stream: Stream = { bytes: 0, isOver: false, [Symbol.dispose]: () => closing.abort() }
  const read = async () => {
    for await (const chunk of response.body!) stream.bytes += (chunk as Uint8Array).length
    stream.isOver = true
  }
  read().catch(() => {})
  return stream
}

const whoami = async ({ gateway, mallory }: World) => (await gateway.call('GET', '/v1/whoami', undefined, mallory)).body

test.each<Binding>(['JSON-RPC', 'HTTP+JSON'])(
  'an event over %s counts when it is written, and once',
  async (binding) => {
    await using world = await openWorld({ megabytesPerMinute: 5, largeMegabytesPerMinute: 0 })
    const { gateway, taskId } = world
    using stream = await subscribe(world, binding)
    await addArtifact(world, 3 * MB)
    await until(
      () => stream.bytes,
      (bytes) => bytes > 3 * MB,
    )
    expect(await whoami(world)).toMatchObject({ identity: '@mallory' })
    // A move reads the task: what the operator reads counts for no agent.
    const operator = { handle: 'operator', key: gateway.adminKey }
    for (const state of ['working', 'completed']) expect((await gateway.move(operator, taskId, state)).status).toBe(200)
    await until(
      () => stream.isOver,
      (isOver) => isOver,
    )
    // Twice it would be more than the limit.
    for (let n = 0; n < 3; n++) expect(await whoami(world)).toMatchObject({ identity: '@mallory' })
  },
)

test.each<Binding>(['JSON-RPC', 'HTTP+JSON'])('what an open stream over %s has sent is not free', async (binding) => {
  await using world = await openWorld({ megabytesPerMinute: 2, largeMegabytesPerMinute: 0 })
  using stream = await subscribe(world, binding)
  await addArtifact(world, 3 * MB)
  await until(
    () => stream.bytes,
    (bytes) => bytes > 3 * MB,
  )
  expect(await whoami(world)).toMatchObject({ code: 'rate-limited', limitName: 'megabytesPerMinute' })
  expect(stream.isOver).toBe(false)
})

test('a large event for many streams of one agent is written one after the other while others are active', async () => {
  await using world = await openWorld({ largeMegabytesPerMinute: 1 })
  const { clock } = world
  const streams: Stream[] = []
  for (let n = 0; n < 4; n++) streams.push(await subscribe(world, n % 2 === 0 ? 'JSON-RPC' : 'HTTP+JSON'))
  const reached = () => streams.filter(({ bytes }) => bytes > 3 * MB).length
  await addArtifact(world, 3 * MB)
  await until(reached, (count) => count > 0)
  for (let n = 0; n < 5; n++) await whoami(world)
  expect(reached()).toBe(1)
  // Nobody else is active any more.
  clock.advance(2_000)
  await until(
    () => {
      clock.advance(10)
      return reached()
    },
    (count) => count === streams.length,
  )
  for (const stream of streams) stream[Symbol.dispose]()
})

test('what a stream has sent in small events does not make the next stream wait', async () => {
  await using world = await openWorld({ largeMegabytesPerMinute: 1 })
  const stream = await subscribe(world, 'HTTP+JSON')
  for (let n = 0; n < 40; n++) await addArtifact(world, 50_000)
  await until(
    () => stream.bytes,
    (bytes) => bytes > 2 * MB,
  )
  stream[Symbol.dispose]()
  // Its end is noted by the time of later answers.
  for (let n = 0; n < 20; n++) await whoami(world)
  using again = await subscribe(world, 'HTTP+JSON')
  await until(
    () => again.bytes,
    (bytes) => bytes > 0,
  )
})
