import { expect, test } from 'vitest'
import type { TestAgent } from '../support/gateway.ts'
import { type ReceivedWake, type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { inWorld, stableHeaders, type World } from './exchange.ts'
import { readFolder } from './fixture.ts'

interface Scene extends World {
  readonly donna: TestAgent
  readonly editor: TestAgent
  readonly receiver: Receiver
}

/** Makes a whole gateway send the wake of a folder as its last wake. */
const scenes: Record<string, (scene: Scene) => Promise<unknown>> = {
  'sent-to-me': async (scene) => {
    await subscribe(scene, 'SENT_TO_ME')
    await send(scene)
  },
  'sent-to-me-without-subject': async (scene) => {
    const { gateway, donna } = scene
    const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['manage'] }, donna)
    await subscribe({ ...scene, donna: { ...donna, key: body.apiKey } }, 'SENT_TO_ME')
    await send(scene)
  },
  'task-created': async (scene) => {
    await subscribe(scene, 'TASK_STATE_CHANGED')
    await send(scene)
  },
  'task-state-changed': async (scene) => {
    await subscribe(scene, 'TASK_STATE_CHANGED')
    const task = await send(scene)
    await scene.gateway.move(scene.donna, task.id, 'input-required')
    await scene.receiver.waitFor(2)
  },
  'permission-granted': async (scene) => {
    await subscribe(scene, 'PERMISSION_GRANTED')
    const grant = { grantee: '@donna', scope: 'CAN_REPLY_TO' }
    await scene.gateway.call('POST', '/v1/permissions', grant, { key: scene.editor.key })
  },
  'message-status-changed': (scene) => statuses(scene, ['acked']),
  'message-seen': (scene) => statuses(scene, ['seen']),
  'message-resolved': (scene) => statuses(scene, ['resolved']),
  'message-superseded': (scene) => statuses(scene, ['superseded']),
  receipt: (scene) => receipts(scene, 1),
  digest: async (scene) => {
    await subscribe(scene, 'TASK_STATE_CHANGED', 30)
    const task = await send(scene)
    await scene.gateway.move(scene.donna, task.id, 'working')
    await scene.gateway.move(scene.donna, task.id, 'completed')
    scene.clock.advance(30_000)
  },
  'digest-of-messages': async (scene) => {
    await subscribe(scene, 'SENT_TO_ME', 30)
    await send(scene)
    await send(scene)
    scene.clock.advance(30_000)
  },
  'digest-of-permissions': async (scene) => {
    await subscribe(scene, 'PERMISSION_GRANTED', 30)
    for (const scope of ['CAN_REPLY_TO', 'CAN_READ_INBOX_OF']) {
      await scene.gateway.call('POST', '/v1/permissions', { grantee: '@donna', scope }, { key: scene.editor.key })
    }
    scene.clock.advance(30_000)
  },
  'digest-of-statuses': async (scene) => {
    await statuses(scene, ['seen', 'resolved'], 30)
    scene.clock.advance(30_000)
  },
  'digest-of-receipts': async (scene) => {
    await receipts(scene, 2, 30)
    scene.clock.advance(30_000)
  },
  'digest-of-signals': async (scene) => {
    await subscribe(scene, 'SIGNING_KEY_ROTATED', 30)
    const { id } = await scene.gateway.subscribe(scene.donna, scene.receiver.url, { trigger: 'SENT_TO_ME' })
    for (const rotateSigningKey of [true, true]) {
      await scene.gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey })
    }
    scene.clock.advance(30_000)
  },
  'digest-waiting': async (scene) => {
    // A task whose mail has been read, and a message.
    await send(scene)
    const { body } = await scene.gateway.call('GET', '/v1/inbox', undefined, scene.donna)
    const path = `/v1/messages/${body.messages[0].messageId}/status`
    await scene.gateway.call('POST', path, { status: 'seen' }, scene.donna)
    await send(scene)
    await subscribe(scene, 'SENT_TO_ME')
    scene.clock.advance(1_000)
  },
  'digest-after-recovery': async (scene) => {
    const path = `/v1/wake-subscriptions/${await subscribe(scene, 'SENT_TO_ME')}`
    const untilStatus = (status: string) =>
      until(
        () => scene.gateway.call('GET', path),
        ({ body }) => body.status === status && body.lastEmittedLogId !== null,
      )
    await send(scene)
    await untilStatus('active')
    scene.receiver.respond(410)
    await send(scene)
    await untilStatus('degraded')
    await send(scene)
    scene.receiver.respond(200)
    await scene.gateway.call('PATCH', path, { status: 'active' })
    await scene.receiver.waitFor(3)
  },
  'digest-truncated': async (scene) => {
    await subscribe(scene, 'SENT_TO_ME', 30)
    await Promise.all(Array.from({ length: 101 }, () => send(scene)))
    scene.clock.advance(30_000)
  },
  'subscription-degraded': async (scene) => {
    await subscribe(scene, 'SUBSCRIPTION_DEGRADED')
    await degrade(scene)
  },
  'subscription-recovered': async (scene) => {
    await subscribe(scene, 'SUBSCRIPTION_RECOVERED')
    const path = `/v1/wake-subscriptions/${await degrade(scene)}`
    await scene.gateway.call('PATCH', path, { status: 'active' })
  },
  'event-failed': async (scene) => {
    await subscribe(scene, 'WAKE_FAILED')
    await using small = await startReceiver(413)
    await scene.gateway.subscribe(scene.donna, small.url, { trigger: 'SENT_TO_ME' })
    await send(scene)
    await scene.receiver.waitFor(1)
  },
  'signing-key-rotated': async (scene) => {
    await subscribe(scene, 'SIGNING_KEY_ROTATED')
    const { id } = await scene.gateway.subscribe(scene.donna, scene.receiver.url, { trigger: 'SENT_TO_ME' })
    await scene.gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true })
  },
  test: async (scene) => {
    const path = `/v1/wake-subscriptions/${await subscribe(scene, 'SENT_TO_ME')}`
    const read = () => scene.gateway.call('GET', path)
    await send(scene)
    await until(read, ({ body }) => body.lastEmittedLogId !== null)
    await scene.gateway.call('POST', `${path}/test`, undefined, { key: scene.donna.key })
    await scene.receiver.waitFor(2)
  },
}

test.each(Object.keys(scenes))('a gateway delivers %s in the form of its fixture', async (name) => {
  const files = readFolder(`wakes/${name}`)
  const { raw, body, headers } = await delivered(scenes[name]!)
  expect(raw).toBe(JSON.stringify(body)) // no spaces, as in the fixture
  expect(formOf(body)).toEqual(formOf(JSON.parse(files['body.json']!)))
  expect(Object.keys(stableHeaders(headers))).toEqual(
    Object.keys(JSON.parse(files['headers.json']!))
      .map((header) => header.toLowerCase())
      .sort(),
  )
})

async function delivered(play: (scene: Scene) => Promise<unknown>): Promise<ReceivedWake> {
  return inWorld(async (world) => {
    await using receiver = await startReceiver()
    const donna = await world.gateway.addAgent('@donna')
    const editor = await world.gateway.addAgent('@editor')
    await play({ ...world, donna, editor, receiver })
    return (await receiver.waitFor(1)).at(-1)!
  })
}

async function subscribe({ gateway, donna, receiver }: Scene, trigger: string, coalesceWindow = 0): Promise<string> {
  return (
    await gateway.subscribe(donna, receiver.url, {
      trigger,
      harnessTargetMetadata: { coalesceWindow, coalesceMode: 'window', includeOwn: true },
    })
  ).id
}

/** The editor reports on mail of donna's. */
async function statuses(scene: Scene, reported: readonly string[], coalesceWindow = 0): Promise<void> {
  const { donna, editor, gateway } = scene
  await subscribe(scene, 'MESSAGE_STATUS_CHANGED', coalesceWindow)
  const mail = { to: '@editor', subject: 'Lunch?' }
  const { body } = await gateway.call('POST', '/v1/messages', mail, { key: donna.key })
  for (const status of reported) {
    await gateway.call('POST', `/v1/messages/${body.messageId}/status`, { status }, { key: editor.key })
  }
}

/** The harness of the editor keeps wakes about mail of donna's. */
async function receipts(scene: Scene, count: number, coalesceWindow = 0): Promise<void> {
  const { donna, editor, gateway } = scene
  await subscribe(scene, 'WAKE_RECEIPT', coalesceWindow)
  const request = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'bridge-daemon',
    harnessTargetMetadata: { coalesceWindow: 0, maxInFlight: 2 },
  }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: editor.key })
  await using reader = await readWakes(gateway, editor, [body.subscriptionId], ['append-only'])
  for (let nth = 1; nth <= count; nth++) {
    await gateway.call('POST', '/v1/messages', { to: '@editor', subject: 'Lunch?' }, { key: donna.key })
    const wake = (await reader.waitFor(nth)).at(-1)
    await reader.report(wake!.eventId, 'held', 'turn_active', { source: 'codex' })
  }
  if (coalesceWindow === 0) await scene.receiver.waitFor(count)
}

/** Degrades another subscription of the agent, and returns its id. */
async function degrade(scene: Scene): Promise<string> {
  await using gone = await startReceiver(410)
  const { id } = await scene.gateway.subscribe(scene.donna, gone.url, { trigger: 'SENT_TO_ME' })
  await send(scene)
  await until(
    async () => (await scene.gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body.status,
    (status) => status === 'degraded',
  )
  return id
}

function send({ gateway, editor }: Scene) {
  const metadata = { taggedConcepts: ['code-review'], priority: 'high' }
  return gateway.send('@donna', 'Please review PR 7', { key: editor.key, message: { metadata } })
}

const stringForms: Record<string, RegExp> = {
  instant: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  ulid: /^[0-9A-HJKMNP-TV-Z]{26}$/,
  subscriptionId: /^WAKE_SUB:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  messageId: /^MESSAGE:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  taskId: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  identity: /^@[a-z]+$/,
}

/** The shape of a value: the order of its keys, and the type of everything in it. */
function formOf(value: unknown): unknown {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.map(formOf)
  if (typeof value === 'object') return Object.entries(value).map(([key, member]) => [key, formOf(member)])
  if (typeof value !== 'string') return typeof value
  return Object.keys(stringForms).find((form) => stringForms[form]!.test(value)) ?? 'text'
}
