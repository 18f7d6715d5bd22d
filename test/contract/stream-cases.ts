import type { TestAgent } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { openWakeSocket } from '../support/wake-socket.ts'
import { inOffice, type Office, type Request } from './exchange.ts'
import { type Files, pretty } from './fixture.ts'
import { createPlaceholders } from './placeholders.ts'
import { ask, done, plain, rest } from './rest-requests.ts'
import { together } from './together.ts'

const stream = '/v1/wake-stream'

/** Both forms of `/v1/wake-stream`, and the receipts. */
export const streamCases = together<Office>(
  (play) => inOffice(play),
  [
    rest('wake-stream/wake', 'A wake, and the end of the stream: its only subscription was removed.', async (scene) => {
      const id = await subscribe(scene)
      const meanwhile = async () => {
        await report(scene, await wakeOf(scene, id), { step: 'delivered' })
        await done(scene.gateway, ask('DELETE', `/v1/wake-subscriptions/${id}`))
      }
      return { ...opened(id, scene.donna.key), meanwhile: [['', meanwhile]] }
    }),
    rest('wake-stream/replaced', 'A newer stream has the subscription: do not connect again.', async (scene) => {
      const id = await subscribe(scene)
      const meanwhile = async () => {
        await using _newer = await readWakes(scene.gateway, scene.donna, [id])
        await done(scene.gateway, ask('DELETE', `/v1/wake-subscriptions/${id}`))
      }
      return { ...opened(id, scene.donna.key), meanwhile: [['', meanwhile]] }
    }),
    ['wake-stream/socket', 'The same as a WebSocket: both sides, in their order, and the code at its end.', socket],
    rest('wake-stream/revoked', 'The key of the reader was revoked.', async (scene) => {
      const id = await subscribe(scene)
      const { apiKey, keyId } = await done(scene.gateway, ask('POST', '/v1/agents/donna/keys', {}))
      const meanwhile = async () => void (await done(scene.gateway, ask('DELETE', `/v1/agents/donna/keys/${keyId}`)))
      return { ...opened(id, apiKey!), meanwhile: [['', meanwhile]] }
    }),
    rest(
      'wake-stream/receipts',
      'A reader reports that it has a wake, and why it does not hand it over yet.',
      async (scene) => {
        const id = await subscribe(scene)
        await using _reader = await readWakes(scene.gateway, scene.donna, [id], ['append-only'])
        return plain('POST /v1/wake-stream/receipts', scene.donna, { wake: await wakeOf(scene, id) })
      },
    ),
  ],
)

async function subscribe({ gateway, donna }: Office): Promise<string> {
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', startFrom: 'now' }
  const metadata = { harnessTargetMetadata: { coalesceWindow: 0 } }
  return (await done(gateway, ask('POST', '/v1/wake-subscriptions', { ...request, ...metadata }, donna)))
    .subscriptionId!
}

const opened = (id: string, key: string): Request => plain('GET /v1/wake-stream', { key }, { reader: id })

/** Sends mail, and returns the id of its wake once that is on the stream. */
async function wakeOf({ gateway, lola }: Office, id: string): Promise<string> {
  await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
  const [{ eventId }] = await until(
    async () => (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)).body.deliveries,
    ({ length }) => length > 0,
  )
  return eventId
}

function report({ gateway, donna }: Office, eventId: string, receipt: object) {
  return done(gateway, ask('POST', `${stream}/receipts`, [{ eventId, ...receipt }], donna))
}

async function socket(scene: Office): Promise<Files> {
  const { gateway, donna, lola } = scene
  const id = await subscribe(scene)
  using reader = await openWakeSocket(gateway, donna, [id])
  await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
  const [{ id: eventId }] = (await reader.waitFor('wake', 1)) as [{ id: string }]
  const said = ['delivered', 'asleep'].map((step) => [{ eventId, step }])
  for (const receipts of said) await reader.report(receipts)
  await done(gateway, ask('DELETE', `/v1/wake-subscriptions/${id}`))
  const closes = await reader.closed
  const [wake, ...answers] = reader.frames
  const messages = [
    { from: 'gateway', message: wake },
    ...answers.flatMap((message, at) => [
      ...(said[at] ? [{ from: 'reader', message: said[at] }] : []),
      { from: 'gateway', message },
    ]),
    { from: 'gateway', closes },
  ]
  const request = { method: 'GET', path: `${stream}?subscription=${id}&capabilities=spawn`, headers: upgrade(donna) }
  const stable = createPlaceholders()
  return {
    'request.json': stable(pretty(request)),
    'answer.json': stable(pretty({ status: 101, headers: { connection: 'Upgrade', upgrade: 'websocket' } })),
    'messages.json': stable(pretty(messages)),
  }
}

const upgrade = ({ key }: TestAgent) => ({
  authorization: `Bearer ${key}`,
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
})
