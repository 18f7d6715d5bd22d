import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import { WebSocket as StandardSocket } from 'undici'
import { describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { openWakeSocket, socketUrl } from '../support/wake-socket.ts'
import { deliveriesOf, remove, stateOf, untilStatus } from '../wakes/acts.ts'

async function subscribe(gateway: TestGateway, agent: TestAgent): Promise<{ id: string; signingKey: string }> {
  const metadata = { coalesceWindow: 0, maxInFlight: 3 }
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: metadata }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key: agent.key })
  return { id: body.subscriptionId, signingKey: body.signingKey }
}

async function donnaWaits() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  return { gateway, donna, ...(await subscribe(gateway, donna)) }
}

describe('a stream of wakes over a WebSocket', () => {
  // S1-33
  test('carries the fields of the server-sent event, and the receipts come back on it', async () => {
    const { gateway, donna, id, signingKey } = await donnaWaits()
    await using _ = gateway
    using reader = await openWakeSocket(gateway, donna, [id])
    await gateway.send('donna', 'Please review')
    const [wake] = await reader.waitFor('wake', 1)
    expect(() => new Webhook(signingKey).verify(wake!.data!, { ...wake! })).not.toThrow()
    expect(wake!['x-neo-wake-signature']).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.parse(wake!.data!)).toMatchObject({ eventType: 'wake/sent_to_me', eventId: wake!.id })
    const pending = await reader.report([{ eventId: wake!.id, step: 'held' }])
    expect(pending).toEqual({ receipts: [{ eventId: wake!.id, outcome: 'pending' }] })
    const done = await reader.report([{ eventId: wake!.id, step: 'delivered' }])
    expect(done).toEqual({ receipts: [{ eventId: wake!.id, outcome: 'delivered' }] })
    await until(
      async () => (await deliveriesOf(gateway, donna, id)).map(({ outcome }) => outcome),
      (outcomes) => outcomes.join() === 'delivered',
    )
  })

  test('has the same fields as the event stream of the same wake', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    const events = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'once')
    const [streamed] = await events.waitFor(1)
    using reader = await openWakeSocket(gateway, donna, [id])
    await events.ended()
    expect(events.released).toEqual([{ subscriptionId: id, reason: 'replaced' }])
    const [framed] = await reader.waitFor('wake', 1)
    expect(Object.keys(framed!).sort()).toEqual(Object.keys(streamed!.fields).sort())
    expect(framed!.data).toBe(streamed!.raw)
    await events[Symbol.asyncDispose]()
  })

  test('works with the WebSocket of Node', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    const headers = { authorization: `Bearer ${donna.key}` }
    const socket = new StandardSocket(socketUrl(gateway, [id]), { headers })
    const texts: string[] = []
    socket.addEventListener('message', ({ data }) => texts.push(data))
    await once(socket, 'open')
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
    await gateway.send('donna', 'Hello')
    await until(
      () => texts.length,
      (count) => count === 1,
    )
    const { id: eventId } = JSON.parse(texts[0]!)
    socket.send(JSON.stringify([{ eventId, step: 'acked' }]))
    await until(
      () => texts[1],
      (text) => text !== undefined,
    )
    expect(JSON.parse(JSON.parse(texts[1]!).data)).toEqual({ receipts: [{ eventId, outcome: 'delivered' }] })
    socket.close()
    await untilStatus(gateway, donna, id, 'waiting')
  })

  // D28
  test('ends with its client: the subscription waits, and the next one is sent what was open', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    const first = await openWakeSocket(gateway, donna, [id])
    await gateway.send('donna', 'open')
    const [open] = await first.waitFor('wake', 1)
    first.socket.terminate()
    await untilStatus(gateway, donna, id, 'waiting')
    using second = await openWakeSocket(gateway, donna, [id])
    const [again] = await second.waitFor('wake', 1)
    expect(again!.data).toBe(open!.data)
  })

  test('goes to the newest stream, and is done with its last subscription', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    const { id: other } = await subscribe(gateway, donna)
    using first = await openWakeSocket(gateway, donna, [id, other])
    await using _events = await readWakes(gateway, donna, [id])
    const [released] = await first.waitFor('released', 1)
    expect(JSON.parse(released!.data!)).toEqual({ subscriptionId: id, reason: 'replaced' })
    expect(first.socket.readyState).toBe(first.socket.OPEN)
    await remove(gateway, donna, other)
    expect(await first.closed).toBe(1000)
  })

  test('ends at once when its key is revoked, with the reason', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    const { body } = await gateway.call('POST', '/v1/agents/donna/keys', {})
    using reader = await openWakeSocket(gateway, { key: body.apiKey }, [id])
    await gateway.call('DELETE', `/v1/agents/donna/keys/${body.keyId}`)
    expect(await reader.closed).toBe(1008)
    expect(JSON.parse(reader.frames[0]!.data!)).toMatchObject({ code: 'unauthenticated', status: 401 })
    await untilStatus(gateway, donna, id, 'waiting')
  })

  test('ends with 1001 when the gateway stops', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    using reader = await openWakeSocket(gateway, donna, [id])
    const stopped = gateway.stop()
    expect(await reader.closed).toBe(1001)
    await stopped
  })

  test('is in the audit from its beginning, as the event stream is', async () => {
    const { gateway, donna, id } = await donnaWaits()
    await using _ = gateway
    using _reader = await openWakeSocket(gateway, donna, [id])
    await using _events = await readWakes(gateway, donna, [id])
    const { body } = await gateway.call('GET', '/v1/audit?operation=wake_stream.open')
    expect(body.records.map(({ actor, outcome }: Record<string, string>) => [actor, outcome])).toEqual([
      ['@donna', 'ok'],
      ['@donna', 'ok'],
    ])
  })
})
