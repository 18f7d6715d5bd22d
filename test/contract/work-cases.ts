import type { TestAgent } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { inWorld, type World } from './exchange.ts'
import { ask, done, get, rest } from './rest-requests.ts'
import { together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
  readonly lola: TestAgent
}

interface SubscribedScene extends Scene {
  readonly receiver: Receiver
  /** Of donna's subscription. */
  readonly path: string
}

const message = { messageId: 'message-1', parts: [{ text: 'Please review PR 7' }] }

const inOffice = <Result>(play: (scene: Scene) => Promise<Result>): Promise<Result> =>
  inWorld(async (world) => {
    const donna = await world.gateway.addAgent('@donna')
    return play({ ...world, donna, lola: await world.gateway.addAgent('@lola') })
  })

/** Lola has sent donna a task. */
async function sentTask({ gateway, lola }: Scene): Promise<string> {
  return (await gateway.send('@donna', '', { key: lola.key, message: { ...message, role: 'ROLE_USER' } })).id
}

export const taskCases = together<Scene & { readonly path: string }>(
  (play) => inOffice(async (scene) => play({ ...scene, path: `/v1/tasks/${await sentTask(scene)}` })),
  [
    rest(
      'tasks/list',
      'The tasks that an agent works on, the last change first, without their artifacts.',
      ({ donna }) => get('/v1/tasks?role=assignee', donna),
    ),
    rest('tasks/move', 'The assignee begins, and says so.', ({ path, donna }) =>
      ask('POST', `${path}/transitions`, { to: 'working', expectedVersion: 1, message: 'On it.' }, donna),
    ),
    rest('tasks/add-artifact', 'The first piece of an artifact. The version of the task stays.', ({ path, donna }) => {
      const artifact = { artifactId: 'review', name: 'review.md', parts: [{ text: 'Line 7: ' }] }
      return ask('POST', `${path}/artifacts`, { artifact, lastChunk: false }, donna)
    }),
    rest(
      'tasks/artifacts',
      'The artifacts of a task in pieces, as they were added.',
      async ({ gateway, path, donna }) => {
        const artifact = { artifactId: 'review', parts: [{ text: 'a typo.' }] }
        await done(gateway, ask('POST', `${path}/artifacts`, { artifact, append: true, lastChunk: true }, donna))
        return get(`${path}/artifacts`, donna)
      },
    ),
    rest(
      'tasks/read',
      'A finished task with its history and its artifact.',
      async ({ gateway, clock, path, donna, lola }) => {
        clock.advance(1000)
        const end = {
          to: 'completed',
          expectedVersion: 2,
          message: { messageId: 'message-2', parts: [{ text: 'Done.' }] },
        }
        await done(gateway, ask('POST', `${path}/transitions`, end, donna))
        return get(path, lola)
      },
    ),
    rest('tasks/messages', 'All messages of a task, the oldest first.', ({ path, lola }) =>
      get(`${path}/messages`, lola),
    ),
    rest('needs/list', 'A task of the operator waits for an answer.', async ({ gateway, donna }) => {
      const { id } = await gateway.send('@donna', '', { message: { ...message, role: 'ROLE_USER' } })
      const ask7 = { to: 'input-required', expectedVersion: 1, message: 'Which PR 7?' }
      await done(gateway, ask('POST', `/v1/tasks/${id}/transitions`, ask7, donna))
      return get('/v1/needs')
    }),
    rest('needs/snooze', 'It is put off for all operators of the project.', async ({ gateway, clock }) => {
      const { needs } = (await gateway.call('GET', '/v1/needs')).body
      const until = new Date(clock.now() + 3_600_000).toISOString()
      return ask('POST', '/v1/needs/snooze', { need: needs[0].id, until })
    }),
  ],
)

export const readMailCases = together<Scene & { readonly messageId: string }>(
  (play) =>
    inOffice(async (scene) => {
      const { gateway, lola } = scene
      const mail = { to: '@donna', subject: 'Lunch?', body: 'At one.', ref: 'issue-42', taggedConcepts: ['team'] }
      const { messageId } = await done(gateway, ask('POST', '/v1/messages', mail, lola))
      await play({ ...scene, messageId: messageId! })
    }),
  [
    rest('mail/sent', 'What an agent has sent, with how far each recipient has come.', ({ lola }) =>
      get('/v1/messages', lola),
    ),
    rest('mail/read', 'A message as its recipient reads it, who has reported it as seen.', async (scene) => {
      const { gateway, donna, messageId } = scene
      await done(gateway, ask('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, donna))
      return get(`/v1/messages/${messageId}`, donna)
    }),
    rest('mail/wait', 'A call that waits for mail, and is answered at once where some waits.', async (scene) => {
      const { gateway, donna, lola } = scene
      await done(gateway, ask('POST', '/v1/sessions', { surface: 'cursor' }, donna))
      await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Dinner?' }, lola))
      return get('/v1/inbox?waitSeconds=50', donna)
    }),
    rest('mail/return', 'A program could not show mail of an answer: it waits again.', async ({ gateway, donna }) => {
      const { sessions } = (await gateway.call('GET', '/v1/sessions', undefined, donna)).body
      const { messages } = (await gateway.call('GET', '/v1/inbox', undefined, donna)).body
      const messageIds = messages.map((mail: { messageId: string }) => mail.messageId).slice(0, 1)
      return ask('POST', '/v1/inbox/returns', { sessionId: sessions[0].sessionId, messageIds }, donna)
    }),
    rest('sessions/list', 'The sessions of an agent that have ended: why, and for which one.', async (scene) => {
      const { gateway, clock, donna } = scene
      clock.advance(1000)
      const process = { pid: 42, startedAt: '2026-04-26T09:59:00.000Z', harness: { cwd: '/work/web' } }
      await done(gateway, ask('POST', '/v1/sessions', { surface: 'codex', drain: false, ...process }, donna))
      return { ...get('/v1/sessions?status=ended', donna), headers: { 'Rouse-Pending-Signals': 'none' } }
    }),
    rest('sessions/read', 'A live session with the routes by which wakes may reach it.', async ({ gateway, donna }) => {
      await gateway.subscribe(donna, 'https://harness.example/wake')
      const { sessions } = (await gateway.call('GET', '/v1/sessions?status=live', undefined, donna)).body
      return { ...get(`/v1/sessions/${sessions[0].sessionId}`, donna), headers: { 'Rouse-Pending-Signals': 'none' } }
    }),
  ],
)

const subscription = (url: string) => ({
  trigger: 'SENT_TO_ME',
  filters: { senderFilter: ['@lola'] },
  harnessTarget: 'a2a-webhook',
  harnessTargetMetadata: { url, coalesceWindow: 0 },
})

export const subscriptionCases = together<SubscribedScene>(
  (play) =>
    inOffice(async (scene) => {
      await using receiver = await startReceiver()
      const request = ask('POST', '/v1/wake-subscriptions', subscription(receiver.url), scene.donna)
      const { subscriptionId } = await done(scene.gateway, request)
      await play({ ...scene, receiver, path: `/v1/wake-subscriptions/${subscriptionId}` })
    }),
  [
    rest(
      'subscriptions/deliveries',
      'The record of a wake that has arrived.',
      async ({ gateway, lola, path, donna }) => {
        await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
        await untilDelivered({ gateway, path }, 1)
        return get(`${path}/deliveries`, donna)
      },
    ),
    rest(
      'subscriptions/read',
      'A subscription with its cursor and its watermark, without its key.',
      ({ path, donna }) => get(path, donna),
    ),
    rest('subscriptions/test', 'A signed `wake/test` was sent: what the receiver answered.', ({ path, donna }) =>
      ask('POST', `${path}/test`, undefined, donna),
    ),
    rest('subscriptions/change', 'The key is rotated: the new one is shown only here.', ({ path, donna }) =>
      ask('PATCH', path, { rotateSigningKey: true, overlapSeconds: 3600 }, donna),
    ),
    rest('subscriptions/resync', 'Everything after a watermark is sent again.', ({ path, donna }) =>
      ask('POST', `${path}/resync`, { sinceLogId: 0 }, donna),
    ),
    rest('subscriptions/replay', 'Events are sent again, and the cursor stays.', async (scene) => {
      const { gateway, path, donna } = scene
      await untilDelivered({ gateway, path }, 2)
      return ask('POST', `${path}/replay`, { fromLogId: 1, toLogId: 4 }, donna)
    }),
    rest('subscriptions/held', 'An event that matched and was not sent, and why.', async (scene) => {
      const { gateway, lola, path, donna } = scene
      const quiet = { to: '@donna', subject: 'No hurry', wakePolicy: 'next_turn' }
      await done(gateway, ask('POST', '/v1/messages', quiet, lola))
      return get(`${path}/held`, donna)
    }),
    rest('subscriptions/make', 'A new subscription. Its signing key is shown only here.', ({ donna }) =>
      ask('POST', '/v1/wake-subscriptions', subscription('https://harness.example/wake'), donna),
    ),
    rest('subscriptions/remove', 'A subscription ends.', ({ path, donna }) => ask('DELETE', path, undefined, donna)),
    rest('deliveries/list', 'What was sent to all receivers, the newest first.', () => get('/v1/deliveries')),
  ],
)

function untilDelivered({ gateway, path }: Pick<SubscribedScene, 'gateway' | 'path'>, count: number) {
  return until(
    async () => (await gateway.call('GET', `${path}/deliveries`)).body.deliveries,
    (all) => all.length === count && all.every(({ outcome }: { outcome: string }) => outcome === 'delivered'),
  )
}
