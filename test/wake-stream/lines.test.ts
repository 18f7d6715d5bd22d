import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'

// S1-41
test('a wake that the reader of a stream reports is a line like that of a webhook, without a status', async () => {
  const { log, of } = logLines('info')
  await using gateway = await startGateway({ overrides: { log } })
  const donna = await gateway.addAgent('donna')
  const request = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'bridge-daemon',
    harnessTargetMetadata: { coalesceWindow: 0 },
  }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: donna.key })
  await using reader = await readWakes(gateway, donna, [body.subscriptionId])
  await gateway.send('donna', 'Please review')
  const [wake] = await reader.waitFor(1)
  expect(of('wake.attempted')).toEqual([])
  await reader.report(wake!.eventId, 'delivered')
  const [line] = await until(
    () => of('wake.attempted'),
    (lines) => lines.length > 0,
  )
  expect(line).toMatchObject({
    level: 'info',
    subscriptionId: body.subscriptionId,
    agent: '@donna',
    eventId: wake!.eventId,
    eventCount: 1,
    attempt: 1,
  })
  expect([line!.status, line!.error]).toEqual([undefined, undefined])
})
