import { expect, test } from 'vitest'
import type { ProcessAgent } from '../support/process-client.ts'
import { type ProcessGateway, type RouseProcess, runRouse, startProcessGateway } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { spawnExample } from '../support/spawn-example.ts'
import { until } from '../support/until.ts'

const awayCount = 10
/** Fewer: the script starts three processes for each task. */
const awayFromScript = 4
const completedMaxMs = 90_000

/** Resolves when every task is completed. */
async function completed(gateway: ProcessGateway, ids: readonly string[]): Promise<void> {
  const states = () => Promise.all(ids.map(async (id) => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state))
  await until(states, (all) => all.every((state) => state === 'completed'), completedMaxMs)
}

async function sendWhileAway(gateway: ProcessGateway, agent: ProcessAgent, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await gateway.send(agent, `task ${n}`)).id)
  return ids
}

// D29
test('a harness that starts after the message is woken by it, and completes the task', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.send(donna, 'sent before anybody was there')
  await using harness = await spawnExample(gateway, donna)
  await completed(gateway, [id])
  expect(harness.said('woken')).toMatchObject([{ eventType: 'wake/digest', reason: 'waiting' }])
})

// D29, D30
test('a harness that was killed is woken by one digest when it is back, and completes all that came meanwhile', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const first = await spawnExample(gateway, donna)
  await completed(gateway, [(await gateway.send(donna, 'before it was killed')).id])
  await first.kill()
  const ids = await sendWhileAway(gateway, donna, awayCount)
  await using second = await spawnExample(gateway, donna)
  await completed(gateway, ids)
  expect(second.said('woken')).toMatchObject([{ eventType: 'wake/digest', reason: 'waiting', eventCount: awayCount }])
})

/** `rouse listen --exec ./examples/on-wake.sh`, once it listens. */
async function listen(gateway: ProcessGateway, { key }: ProcessAgent): Promise<RouseProcess> {
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
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.send(donna, 'sent before anybody listened')
  await using listener = await listen(gateway, donna)
  await completed(gateway, [id])
  expect(wakesOf(listener)).toMatchObject([{ eventType: 'wake/digest', payload: { reason: 'waiting' } }])
  await stop(listener)
})

// D28, D29
test('`rouse listen --exec` that was killed is woken by one digest when it is back, and completes all that came meanwhile', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const first = await listen(gateway, donna)
  await completed(gateway, [(await gateway.send(donna, 'before it was killed')).id])
  const [{ subscriptionId }] = (await gateway.call('GET', '/v1/wake-subscriptions')).body.subscriptions
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
  const ids = await sendWhileAway(gateway, donna, awayFromScript)
  await using second = await listen(gateway, donna)
  await completed(gateway, ids)
  expect(wakesOf(second)).toMatchObject([
    { eventType: 'wake/digest', payload: { reason: 'waiting', eventCount: awayFromScript } },
  ])
  await stop(second)
})
