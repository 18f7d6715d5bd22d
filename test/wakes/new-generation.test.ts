import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { advanceUntil, deliveriesOf, patch, resync, stateOf } from './acts.ts'

const anew: [string, (gateway: TestGateway, donna: TestAgent, id: string) => Promise<unknown>][] = [
  ['a resync', (gateway, donna, id) => resync(gateway, donna, id, 0)],
  ['other filters', (gateway, donna, id) => patch(gateway, donna, id, { filters: { senderFilter: ['@operator'] } })],
  [
    'the start of a session',
    (gateway, donna) => gateway.call('POST', '/v1/sessions', { surface: 'x', drain: false }, donna),
  ],
  [
    'a pause',
    async (gateway, donna, id) => {
      await patch(gateway, donna, id, { status: 'paused' })
      await patch(gateway, donna, id, { status: 'active' })
    },
  ],
]
test.each(anew)(
  'after %s, what was to be tried again ends, and is not shown as pending for ever',
  async (_what, act) => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    await using receiver = await startReceiver(503)
    const donna = await gateway.addAgent('donna')
    const sub = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    await gateway.send('donna', 'one')
    // An answer to donna would have her mail with it.
    const reader = { ...donna, key: gateway.adminKey }
    const tries = async () => (await deliveriesOf(gateway, reader, sub.id))[0]?.attempts?.length ?? 0
    await advanceUntil(clock, 500, tries, (count) => count >= 2)
    const [before] = await deliveriesOf(gateway, reader, sub.id)
    expect(before).toMatchObject({ outcome: 'pending', nextAttemptAt: expect.any(String) })
    await act(gateway, donna, sub.id)
    receiver.respond(200)
    const after = await advanceUntil(
      clock,
      1_000,
      () => deliveriesOf(gateway, reader, sub.id),
      ([newest]) => newest.outcome === 'delivered',
    )
    expect(after).toMatchObject([{ outcome: 'delivered' }, { eventId: before.eventId, outcome: 'failed' }])
    expect(after[0].eventId).not.toBe(before.eventId)
    expect((await stateOf(gateway, reader, sub.id)).retrying).toBeFalsy()
  },
)
