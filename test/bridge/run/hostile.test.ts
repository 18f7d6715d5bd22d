import { describe, expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { mail, untilOutcomes } from './acts.ts'
import { startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'
import { duringWakes } from './forged-wakes.ts'

describe('a peer that sends too much', () => {
  test('waits for its own limit, and holds up nobody else', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const [ben, olga] = [await gateway.addAgent('ben'), await gateway.addAgent('olga')]
    const donna = await gateway.addAgent('donna')
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    const limits = { wakesFromOneAgentAnHour: 1 }
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path, limits })
    await mail(gateway, 'one', ben)
    await untilOutcomes(gateway, donna, ['delivered'])
    await mail(gateway, 'two', ben)
    expect((await bridge.step('held')).detail).toContain('@ben has woken @donna 1 times within an hour')
    await mail(gateway, 'three', ben)
    expect(harness.turns).toHaveLength(1)
    // The gateway sends it after the held wake.
    await mail(gateway, 'listen to me', olga)
    harness.set({ cwd: workplace(home.path), activeTurnId: 'over' })
    await untilOutcomes(gateway, donna, ['delivered', 'delivered', 'delivered'])
    expect(harness.turns.at(-1)?.lines).toContain('listen to me')
  })
})

describe('a gateway that lies', () => {
  test('what is no wake is left out, and holds up none that is one', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const [ben, donna] = [await gateway.addAgent('ben'), await gateway.addAgent('donna')]
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    const rows = [harness.row()]
    const options = { gateway, agents: [donna], rows, home: home.path }
    const id = (last: string) => `01KABCDEFGHJKMNPQRSTVWXY${last}`
    const forged = [
      { eventType: 'wake/sent_to_me', eventId: "01K\n'; rm -rf ~", payload: {} },
      { eventType: 'wake/sent_to_me', eventId: 'x'.repeat(100_000), payload: null },
      { eventType: ['wake/test'], eventId: id('00'), payload: {} },
      { eventType: 'wake/sent_to_me', eventId: id('01'), subscriptionId: { a: [1] }, payload: [{ from: 1 }] },
      {
        eventType: 'wake/digest',
        eventId: id('02'),
        subscriptionId: 7,
        emittedAt: 0,
        payload: { refs: [null, 4, { eventType: [] }], latestMessage: 'x', summary: { deep: [null] } },
      },
    ]
    await using bridge = await startBridge({ ...options, agents: [ben, donna], fetch: duringWakes(forged) })
    await mail(gateway, 'a true one')
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(bridge.notes.filter((text) => text.includes('no ULID'))).toHaveLength(2)
    // The same ids came to two agents: each belongs to the one that was first.
    expect(bridge.notes.filter((text) => text.includes('of another agent'))).not.toEqual([])
    expect(harness.turns.map(({ text }) => text).filter((text) => text.includes('\n'))).toEqual([])
    expect(harness.turns).toHaveLength(3)
  })
})
