import { call, get, Refused } from '../api.js'
import { confirm } from '../dialog.js'
import { counted, plain } from '../show.js'

const heldMax = 100

const pathOf = (id) => `/v1/wake-subscriptions/${encodeURIComponent(id)}`

/** Makes subscriptions active again, after a confirmation that says how much is sent then. */
export async function reactivate(ids, act, more) {
  const waiting = await Promise.all(ids.map(countWaiting))
  const count = waiting.reduce((sum, one) => sum + one, 0)
  const isMore = waiting.some((one) => one >= heldMax)
  const text = `${counted(count, 'event')}${isMore ? ' or more' : ''} waiting. Each subscription sends what waits as one digest, without mail that has arrived another way.`
  const title = `Reactivate ${counted(ids.length, 'subscription')}?`
  if (!(await confirm({ title, text, action: 'Reactivate' }))) return
  await act(`Active again: ${counted(ids.length, 'subscription')}.`, () => setStatus(ids, 'active'), more)
}

export async function pause(ids, act, more) {
  const title = `Pause ${counted(ids.length, 'subscription')}?`
  const text =
    'Nothing is sent until somebody makes it active again. What gathers meanwhile is sent then, as one digest.'
  if (!(await confirm({ title, text, action: 'Pause' }))) return
  await act(`Paused: ${counted(ids.length, 'subscription')}.`, () => setStatus(ids, 'paused'), more)
}

/** Sends these deliveries again, each with a new event id, after a confirmation that says how many. */
export async function replay(deliveries, act) {
  const title = `Send ${counted(deliveries.length, 'delivery', 'deliveries')} again?`
  const text =
    'Each is sent once more under a new event id, before anything newer. A receiver that had it gets it twice.'
  if (!(await confirm({ title, text, action: 'Send again' }))) return
  await act(`Sent again: ${deliveries.length}.`, async () => {
    for (const { subscriptionId, eventId } of deliveries) {
      await call('POST', `${pathOf(subscriptionId)}/replay`, { body: { eventId } })
    }
  })
}

/** Sends the beginning of a task once more to those who wake its agent. */
export async function wakeAgain({ taskId, agent, title }, act) {
  const [{ events }, { subscriptions }] = await Promise.all([
    get('/v1/events', { task: taskId, limit: 2 }),
    get('/v1/wake-subscriptions', { agent, limit: 20 }),
  ])
  const logId = events.find(({ type }) => type === 'message.sent')?.logId
  const open = subscriptions.filter(({ status, trigger }) => status === 'active' && trigger === 'SENT_TO_ME')
  if (logId === undefined || open.length === 0)
    return act('', () =>
      Promise.reject(
        new Refused(0, { detail: `${agent} has no route that could wake it for this. Open the agent to see why.` }),
      ),
    )
  return act(`${agent} is woken again for ${plain(title)}.`, () =>
    Promise.all(
      open
        .slice(0, 1)
        .map(({ subscriptionId }) =>
          call('POST', `${pathOf(subscriptionId)}/replay`, { body: { fromLogId: logId, toLogId: logId } }),
        ),
    ),
  )
}

export function sendTest(id, act) {
  const told = ({ attempt }) =>
    `Test wake: ${attempt.error ?? `the receiver answered ${attempt.status ?? 'nothing yet'}`}.`
  return act(told, () => call('POST', `${pathOf(id)}/test`))
}

async function setStatus(ids, status) {
  for (const id of ids) await call('PATCH', pathOf(id), { body: { status } })
}

async function countWaiting(id) {
  const { held } = await get(`${pathOf(id)}/held`, { limit: heldMax })
  return held.filter(({ action }) => action === 'wait').length
}
