import { expect, test } from 'vitest'
import { WakeWork } from '../../src/cli/listen/wake-work.ts'
import { Refused, Unreachable } from '../../src/client/failure.ts'
import type { GatewayClient } from '../../src/client/gateway-client.ts'
import { until } from '../support/until.ts'

const wake = { eventType: 'wake/sent_to_me', eventId: '01', payload: {} }

/** A gateway that fails as the list says, and then takes reports. */
function gatewayThat(failures: Error[]) {
  const reports: unknown[] = []
  const call = async (_route: string, { body }: { body: unknown }) => {
    reports.push(body)
    const failure = failures.shift()
    if (failure) throw failure
  }
  return { reports, gateway: { call } as unknown as GatewayClient }
}

// The stream goes on, and the gateway waits for this report: nobody asks for it again.
test.each([
  ['a gateway that is busy', new Refused({ status: 503 })],
  ['a gateway that is away', new Unreachable('http://127.0.0.1:9', 'refused')],
])('a report is made again to %s, and the work is done once', async (_what, failure) => {
  const { gateway, reports } = gatewayThat([failure])
  let count = 0
  const work = new WakeWork(gateway, {
    concurrency: 1,
    work: async () => {
      count++
      return { step: 'delivered' }
    },
  })
  work.add(wake)
  await until(
    () => reports.length,
    (made) => made === 2,
  )
  await work.stop()
  expect(count).toBe(1)
  expect(reports[1]).toMatchObject([{ eventId: '01', step: 'delivered' }])
})

test('a report that is refused for good, or at the end, is made once', async () => {
  const forGood = gatewayThat([new Refused({ status: 401 })])
  const work = new WakeWork(forGood.gateway, { concurrency: 1, work: async () => ({ step: 'delivered' }) })
  work.add(wake)
  await until(
    () => forGood.reports.length,
    (made) => made === 1,
  )
  await work.stop()
  expect(forGood.reports.length).toBe(1)

  const atTheEnd = gatewayThat([new Refused({ status: 503 }), new Refused({ status: 503 })])
  const last = new WakeWork(atTheEnd.gateway, { concurrency: 1, work: async () => ({ step: 'delivered' }) })
  last.add(wake)
  await last.stop()
  expect(atTheEnd.reports.length).toBe(1)
})
