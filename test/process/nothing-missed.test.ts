import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProcessAgent } from '../support/process-client.ts'
import { type ProcessGateway, type RouseProcess, runRouse, startProcessGateway } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { spawnExample } from '../support/spawn-example.ts'
import { until } from '../support/until.ts'

const awayCount = 10
/** Fewer: the script starts three processes for each task. */
const awayFromScript = 4
const completedMaxMs = 90_000

let gateway: ProcessGateway
beforeAll(async () => {
  gateway = await startProcessGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

/** Resolves when every task is completed. They are read one after the other, for reading them all again and again costs more than the work. */
async function completed(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const state = async () => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state
    await until(state, (now) => now === 'completed', completedMaxMs)
  }
}

async function sendWhileAway(agent: ProcessAgent, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await gateway.send(agent, `task ${n}`)).id)
  return ids
}

// D38
test('a harness that starts after the message gets it with its start, and completes the task', async () => {
  const donna = await gateway.addAgent('@early')
  const { id } = await gateway.send(donna, 'sent before anybody was there')
  await using harness = await spawnExample(gateway, donna)
  await completed([id])
  expect(harness.said('mail')).toMatchObject([{ subject: 'sent before anybody was there' }])
  expect(harness.said('woken')).toEqual([])
})

// D38, D30
test('a harness that was killed gets all that came meanwhile once when it is back, and completes it', async () => {
  const donna = await gateway.addAgent('@away')
  const first = await spawnExample(gateway, donna)
  await completed([(await gateway.send(donna, 'before it was killed')).id])
  await first.kill()
  const ids = await sendWhileAway(donna, awayCount)
  await using second = await spawnExample(gateway, donna)
  await completed(ids)
  expect(second.said('mail')).toHaveLength(awayCount)
  expect(second.said('woken')).toEqual([])
})

/** `rouse listen --exec ./examples/on-wake.sh`, once it listens. */
async function listen({ key }: ProcessAgent): Promise<RouseProcess> {
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: key, ROUSE_COMMAND: [process.execPath, ...rouseWords()].join(' ') }
  const listener = runRouse(['listen', '--json', '--exec', './examples/on-wake.sh'], env)
  await until(listener.output, ({ stderr }) => stderr.includes('Listening to'))
  return listener
}

/** Ctrl-C, which ends the script too. */
async function stop(listener: RouseProcess): Promise<void> {
  listener.kill('SIGINT')
  expect((await listener.exited).code).toBe(130)
}

const wakesOf = (listener: RouseProcess) =>
  listener
    .output()
    .stdout.trim()
    .split('\n')
    .map((line) => JSON.parse(line))

// D29
test('`rouse listen --exec` that starts after the message is woken by it, and completes the task', async () => {
  const donna = await gateway.addAgent('@listener')
  const { id } = await gateway.send(donna, 'sent before anybody listened')
  await using listener = await listen(donna)
  await completed([id])
  expect(wakesOf(listener)).toMatchObject([{ eventType: 'wake/digest', payload: { reason: 'waiting' } }])
  await stop(listener)
})

// D28, D29
test('`rouse listen --exec` that was killed is woken by one digest when it is back, and completes all that came meanwhile', async () => {
  const donna = await gateway.addAgent('@killed')
  const first = await listen(donna)
  await completed([(await gateway.send(donna, 'before it was killed')).id])
  const [{ subscriptionId }] = (await gateway.call('GET', '/v1/wake-subscriptions', undefined, donna)).body
    .subscriptions
  const path = `/v1/wake-subscriptions/${subscriptionId}`
  await until(
    async () => (await gateway.call('GET', `${path}/deliveries`)).body.deliveries,
    ([delivery]) => delivery?.outcome === 'delivered',
  )
  first.kill('SIGKILL')
  await first.exited
  await until(
    async () => (await gateway.call('GET', path)).body,
    ({ status }) => status === 'waiting',
  )
  const ids = await sendWhileAway(donna, awayFromScript)
  await using second = await listen(donna)
  await completed(ids)
  expect(wakesOf(second)).toMatchObject([
    { eventType: 'wake/digest', payload: { reason: 'waiting', eventCount: awayFromScript } },
  ])
  await stop(second)
})
