import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

const as = (gateway: TestGateway) => ({ ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey })

// S3-10
test('the gate is shown and changed, for the project and for an agent', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  expect((await run(['gate'], as(gateway))).stdout).toMatch(/^The project: nudges enabled, restarts disabled/)
  const on = ['gate', '--restarts', 'on', '--reason', 'the bridge is a service']
  expect((await run(on, as(gateway))).stdout).toMatch(/restarts enabled \(.*the bridge is a service\)/)
  const donna = ['gate', '@donna', '--nudges', 'off', '--set', 'staleAfterSeconds=300']
  const { stdout } = await run(donna, as(gateway))
  expect(stdout).toMatch(/^@donna: nudges disabled, restarts enabled/)
  expect(stdout).toMatch(/^staleAfterSeconds: +300\nbootTimeoutSeconds: +900\n/m)
})

test('the gate of an agent shows both gates with their reasons, and its event says what holds', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const { stdout } = await run(['gate', '@donna', '--nudges', 'off', '--reason', 'leave alone'], as(gateway))
  expect(stdout).toMatch(
    /^@donna: nudges disabled, restarts disabled .*\n {2}@donna: nudges disabled, restarts enabled \(.*: leave alone\)\n {2}The project: nudges enabled, restarts disabled/,
  )
  const { body } = await gateway.call('GET', '/v1/gate?agent=donna')
  expect(body.gates).toMatchObject([{ agent: '@donna', reason: 'leave alone' }, { reason: null }])
  const { body: log } = await gateway.call('GET', '/v1/events?since=0')
  expect(log.events.findLast(({ type }: { type: string }) => type === 'gate.changed').data).toMatchObject({
    nudges: 'disabled',
    restarts: 'disabled',
    reason: 'leave alone',
  })
})

test('a setting that is no number is refused before a request is sent', async () => {
  const { code, stderr } = await run(['gate', '--set', 'staleAfterSeconds=soon'], { ROUSE_URL: 'http://127.0.0.1:9' })
  expect(code).not.toBe(0)
  expect(stderr).toContain('--set: "staleAfterSeconds=soon" is not a name and a number')
})

// S1-42, S3-11, D50
test('what recovery sees, who depends on the heartbeat, and who is parked can be read; a park can be ended', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: donna.key })
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap' }, { key: donna.key })
  expect((await run(['recovery', 'list'], as(gateway))).stdout).toMatch(/@donna +.*spend-cap until a person acts/)
  expect((await run(['heartbeat'], as(gateway))).stdout).toMatch(/@donna +none: it depends on the heartbeat +never/)
  expect((await run(['unpark', '@donna'], as(gateway))).stdout).toBe('@donna is woken again.\n')
  expect((await run(['unpark', '@donna'], as(gateway))).stdout).toBe('@donna was not parked.\n')
  expect((await gateway.call('GET', '/v1/parked?agent=@donna')).body.parked).toBe(null)
})
