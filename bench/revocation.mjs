// Measures the time from a revocation on one gateway to the end of the key's streams on another one: two gateways in processes of their own, one
// PostgreSQL, the default bus (NOTIFY). Each time a new key, with one stream of events, is revoked.
//   npm run build && node bench/revocation.mjs [--times 20] [--streams 1]
import { runIfMain } from './lib/command.mjs'
import { startGateway } from './lib/gateway.mjs'
import { busyShare } from './lib/machine.mjs'
import { start as startPostgres } from './lib/postgres.mjs'
import { adminKey } from './lib/rouse.mjs'
import { median } from './lib/stats.mjs'
import { busyNote, table } from './lib/table.mjs'

export const title = 'A revocation on another gateway'
export const defaults = { times: 20, streams: 1, warmUp: 3 }
export const quick = { times: 3, warmUp: 1 }

export async function measure({ times, streams, warmUp }) {
  const store = await startPostgres()
  const env = { ROUSE_DATABASE_URL: store.address, ROUSE_LOG_LEVEL: 'warn' }
  const gateways = []
  try {
    for (const _ of [1, 2]) gateways.push(await startGateway({ env }))
    const [a, b] = gateways
    await a.call('POST', '/v1/agents', { handle: 'spy' })
    const busy = await busyShare()
    const samples = []
    for (let i = 0; i < warmUp + times; i++) samples.push(await revokeOnce(a, b, streams))
    const row = (name, field) => {
      const values = samples.slice(warmUp).map((sample) => sample[field])
      return [name, median(values).toFixed(1), Math.max(...values).toFixed(1)]
    }
    return [
      `${store.version}; ${times} revocations one after the other, streams of each key that are open on the other gateway: ${streams}. In ms. ${busyNote([{ busy }])}`,
      table(
        ['from', 'median', 'max'],
        [row('the request that revokes', 'afterRequest'), row('its answer', 'afterAnswer')],
      ),
    ].join('\n\n')
  } finally {
    for (const gateway of gateways) await gateway.stop()
    await store.stop()
  }
}

/** In ms, until the last stream has ended. Negative: before the answer to the revocation had come. */
async function revokeOnce(a, b, count) {
  const { keyId, apiKey } = await a.call('POST', '/v1/agents/spy/keys', {})
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' }
  const open = async () => {
    const response = await fetch(`${b.url}/v1/events`, { headers })
    if (response.status !== 200) throw new Error(`The stream was answered ${response.status}.`)
    return { ending: response.text().then((text) => ({ text, endedAt: performance.now() })) }
  }
  const streams = []
  for (let i = 0; i < count; i++) streams.push(await open())
  const sentAt = performance.now()
  const { status } = await fetch(`${a.url}/v1/agents/spy/keys/${keyId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${adminKey}` },
  })
  const answeredAt = performance.now()
  if (status !== 204) throw new Error(`The revocation was answered ${status}.`)
  const ended = await Promise.all(streams.map(({ ending }) => ending))
  if (!ended.every(({ text }) => text.includes('unauthenticated')))
    throw new Error('A stream ended for another reason.')
  const endedAt = Math.max(...ended.map((one) => one.endedAt))
  return { afterRequest: endedAt - sentAt, afterAnswer: endedAt - answeredAt }
}

await runIfMain(import.meta, { title, defaults, quick, measure })
