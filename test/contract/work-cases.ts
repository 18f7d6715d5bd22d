import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { inOffice, type Office } from './exchange.ts'
import { ask, done, get, plain, rest } from './rest-requests.ts'
import { together } from './together.ts'

interface SubscribedScene extends Office {
  /** Of donna's subscription. */
  readonly path: string
  readonly ids: Record<'subscription' | 'spareReader', string>
}

const message = { messageId: 'message-1', parts: [{ text: 'Please review PR 7' }] }

/** Lola has sent donna a task. */
async function sentTask({ gateway, lola }: Office): Promise<string> {
  return (await gateway.send('@donna', '', { key: lola.key, message: { ...message, role: 'ROLE_USER' } })).id
}

export const taskCases = together<
  Office & { readonly path: string; readonly ids: Record<'task' | 'spareTask', string> }
>(
  (play) =>
    inOffice(async (scene) => {
      const task = await sentTask(scene)
      await play({ ...scene, path: `/v1/tasks/${task}`, ids: { task, spareTask: task } })
    }),
  [
    rest(
      'tasks/list',
      'The tasks that an agent works on, the last change first, without their artifacts.',
      ({ donna }) => plain('GET /v1/tasks', donna),
    ),
    rest('tasks/move', 'The assignee begins, and says so.', ({ donna, ids }) =>
      plain('POST /v1/tasks/:id/transitions', donna, ids),
    ),
    rest('tasks/add-artifact', 'The first piece of an artifact. The version of the task stays.', ({ donna, ids }) =>
      plain('POST /v1/tasks/:id/artifacts', donna, ids),
    ),
    rest(
      'tasks/artifacts',
      'The artifacts of a task in pieces, as they were added.',
      async ({ gateway, path, donna, ids }) => {
        const artifact = { artifactId: 'review', parts: [{ text: 'a typo.' }] }
        await done(gateway, ask('POST', `${path}/artifacts`, { artifact, append: true, lastChunk: true }, donna))
        return plain('GET /v1/tasks/:id/artifacts', donna, ids)
      },
    ),
    rest(
      'tasks/read',
      'A finished task with its history and its artifact.',
      async ({ gateway, clock, path, donna, lola, ids }) => {
        clock.advance(1000)
        const end = {
          to: 'completed',
          expectedVersion: 2,
          message: { messageId: 'message-2', parts: [{ text: 'Done.' }] },
        }
        await done(gateway, ask('POST', `${path}/transitions`, end, donna))
        return plain('GET /v1/tasks/:id', lola, ids)
      },
    ),
    rest('tasks/messages', 'All messages of a task, the oldest first.', ({ lola, ids }) =>
      plain('GET /v1/tasks/:id/messages', lola, ids),
    ),
    rest('needs/list', 'A task of the operator waits for an answer.', async ({ gateway, donna }) => {
      const { id } = await gateway.send('@donna', '', { message: { ...message, role: 'ROLE_USER' } })
      const ask7 = { to: 'input-required', expectedVersion: 1, message: 'Which PR 7?' }
      await done(gateway, ask('POST', `/v1/tasks/${id}/transitions`, ask7, donna))
      return plain('GET /v1/needs')
    }),
    rest('web-push/subscribe', 'A browser of an operator takes notifications of what stops work.', () =>
      plain('POST /v1/push/subscriptions'),
    ),
    rest('web-push/read', 'The key of the gateway for a browser, and the browsers that this key has added.', () =>
      plain('GET /v1/push'),
    ),
    rest('web-push/unsubscribe', 'A browser takes no more notifications.', async ({ gateway }) => {
      const { subscriptions } = (await gateway.call('GET', '/v1/push')).body
      return plain('DELETE /v1/push/subscriptions/:id', undefined, { turn: subscriptions[0].subscriptionId })
    }),
    rest('needs/snooze', 'It is put off for all operators of the project.', async ({ gateway, clock }) => {
      const { needs } = (await gateway.call('GET', '/v1/needs')).body
      const later = new Date(clock.now() + 3_600_000).toISOString()
      return plain('POST /v1/needs/snooze', undefined, { need: needs[0].id, later })
    }),
  ],
)

export const readMailCases = together<Office & { readonly messageId: string }>(
  (play) =>
    inOffice(async (scene) => {
      const { gateway, lola } = scene
      const mail = { to: '@donna', subject: 'Lunch?', body: 'At one.', ref: 'issue-42', taggedConcepts: ['team'] }
      const { messageId } = await done(gateway, ask('POST', '/v1/messages', mail, lola))
      await play({ ...scene, messageId: messageId! })
    }),
  [
    rest('mail/sent', 'What an agent has sent, with how far each recipient has come.', ({ lola }) =>
      plain('GET /v1/messages', lola),
    ),
    rest('mail/read', 'A message as its recipient reads it, who has reported it as seen.', async (scene) => {
      const { gateway, donna, messageId } = scene
      await done(gateway, ask('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, donna))
      return plain('GET /v1/messages/:id', donna, { message: messageId })
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
      return plain('POST /v1/inbox/returns', donna, {
        spareSession: sessions[0].sessionId,
        message: messages[0].messageId,
      })
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
      return {
        ...plain('GET /v1/sessions/:id', donna, { session: sessions[0].sessionId }),
        headers: { 'Rouse-Pending-Signals': 'none' },
      }
    }),
  ],
)

export const subscriptionCases = together<SubscribedScene>(
  (play) =>
    inOffice(async (scene) => {
      await using receiver = await startReceiver()
      const filters = { senderFilter: ['@lola'] }
      const { id } = await scene.gateway.subscribe(scene.donna, receiver.url, { trigger: 'SENT_TO_ME', filters })
      const ids = { subscription: id, spareReader: id }
      await play({ ...scene, ids, path: `/v1/wake-subscriptions/${id}` })
    }),
  [
    rest(
      'subscriptions/deliveries',
      'The record of a wake that has arrived.',
      async ({ gateway, lola, path, donna, ids }) => {
        await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
        await untilDelivered({ gateway, path }, 1)
        return plain('GET /v1/wake-subscriptions/:id/deliveries', donna, ids)
      },
    ),
    rest('subscriptions/read', 'A subscription with its cursor and its watermark, without its key.', ({ donna, ids }) =>
      plain('GET /v1/wake-subscriptions/:id', donna, ids),
    ),
    rest('subscriptions/test', 'A signed `wake/test` was sent: what the receiver answered.', ({ donna, ids }) =>
      plain('POST /v1/wake-subscriptions/:id/test', donna, ids),
    ),
    rest('subscriptions/change', 'The key is rotated: the new one is shown only here.', ({ donna, ids }) =>
      plain('PATCH /v1/wake-subscriptions/:id', donna, ids),
    ),
    rest('subscriptions/resync', 'Everything after a watermark is sent again.', ({ donna, ids }) =>
      plain('POST /v1/wake-subscriptions/:id/resync', donna, ids),
    ),
    rest('subscriptions/replay', 'Events are sent again, and the cursor stays.', async (scene) => {
      const { gateway, path, donna, ids } = scene
      await untilDelivered({ gateway, path }, 2)
      return plain('POST /v1/wake-subscriptions/:id/replay', donna, ids)
    }),
    rest('subscriptions/held', 'An event that matched and was not sent, and why.', async (scene) => {
      const { gateway, lola, donna, ids } = scene
      const quiet = { to: '@donna', subject: 'No hurry', wakePolicy: 'next_turn' }
      await done(gateway, ask('POST', '/v1/messages', quiet, lola))
      return plain('GET /v1/wake-subscriptions/:id/held', donna, ids)
    }),
    rest('subscriptions/make', 'A new subscription. Its signing key is shown only here.', ({ donna }) =>
      plain('POST /v1/wake-subscriptions', donna),
    ),
    rest('subscriptions/remove', 'A subscription ends.', ({ donna, ids }) =>
      plain('DELETE /v1/wake-subscriptions/:id', donna, ids),
    ),
    rest('deliveries/list', 'What was sent to all receivers, the newest first.', () => plain('GET /v1/deliveries')),
    rest('figures/read', 'The wakes of the last minutes, and the time from the event to the acknowledgement.', () =>
      plain('GET /v1/figures'),
    ),
  ],
)

function untilDelivered({ gateway, path }: Pick<SubscribedScene, 'gateway' | 'path'>, count: number) {
  return until(
    async () => (await gateway.call('GET', `${path}/deliveries`)).body.deliveries,
    (all) => all.length === count && all.every(({ outcome }: { outcome: string }) => outcome === 'delivered'),
  )
}
