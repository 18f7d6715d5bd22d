import { expect, test } from 'vitest'
import { followEvents } from '../../src/cli/tail/follow-events.ts'
import { createGatewayClient, type GatewayClient } from '../../src/client/gateway-client.ts'
import { silenceMsMax } from '../../src/client/silence.ts'
import { streamedWakes } from '../../src/client/wakes/streamed-wakes.ts'
import { keepAliveMs } from '../../src/fronts/http/sse.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

test('a stream may miss some pings of the gateway before it counts as silent', () => {
  expect(silenceMsMax).toBe(5 * keepAliveMs)
})

interface Reading {
  readonly signal: AbortSignal
  readonly note: (text: string) => void
  readonly subscriptionIds: readonly string[]
}

/** Returns the text of each thing that was read. */
async function* readLog(client: GatewayClient, reading: Reading): AsyncGenerator<string, void, undefined> {
  for await (const event of followEvents(client, { ...reading, since: 0 })) yield JSON.stringify(event)
}

async function* readWakes(client: GatewayClient, reading: Reading): AsyncGenerator<string, void, undefined> {
  for await (const item of streamedWakes(client, { ...reading, capabilities: [] })) yield JSON.stringify(item)
}

// `rouse tail`, `watch` and `mcp` read the log; `listen` and `bridge` read wakes.
test.each([
  ['the log', readLog],
  ['a stream of wakes', readWakes],
])('%s that goes silent for 75 s is read on over another connection', async (_what, read) => {
  await using gateway = await startGateway()
  const { hostname, port } = new URL(gateway.url)
  await using proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  const { key } = await gateway.addAgent('donna')
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key })
  const ended = new AbortController()
  const { signal } = ended
  const clock = new FakeClock()
  const notes: string[] = []
  const texts: string[] = []
  const credentials = async () => ({ key })
  const client = createGatewayClient({ url: `http://127.0.0.1:${proxy.port}`, credentials, clock, signal })
  const reading = (async () => {
    const note = (text: string) => void notes.push(text)
    for await (const text of read(client, { signal, note, subscriptionIds: [body.subscriptionId] })) texts.push(text)
  })()
  await gateway.send('donna', 'Before')
  await until(
    () => texts.join(),
    (text) => text.includes('Before'),
  )
  await until(() => clock.timersIn(silenceMsMax), Boolean)
  proxy.silenceOpen()
  await gateway.send('donna', 'After')
  const { length } = texts
  clock.advance(silenceMsMax - 1)
  expect(notes).toEqual([])
  clock.advance(1)
  await until(
    () => texts.slice(length),
    // A wake of which nothing was reported comes again first.
    (more) => /After|Before/.test(more.join()),
  )
  expect(notes).toHaveLength(1)
  ended.abort()
  await expect(reading).rejects.toThrow()
})
