import { call, get } from '../api.js'
import { confirm } from '../dialog.js'

const heldMax = 100

const pathOf = (id) => `/v1/wake-subscriptions/${encodeURIComponent(id)}`
const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Makes subscriptions active again, after a confirmation that says how much is sent then. */
export async function reactivate(ids, act) {
  const waiting = await Promise.all(ids.map(countWaiting))
  const count = waiting.reduce((sum, one) => sum + one, 0)
  const isMore = waiting.some((one) => one >= heldMax)
  const text = `${counted(count, 'event')}${isMore ? ' or more' : ''} waiting. Each subscription sends what waits as one digest, without mail that has arrived another way.`
  const title = `Reactivate ${counted(ids.length, 'subscription')}?`
  if (!(await confirm({ title, text, action: 'Reactivate' }))) return
  await act(`Active again: ${counted(ids.length, 'subscription')}.`, () => setStatus(ids, 'active'))
}

export async function pause(ids, act) {
  const title = `Pause ${counted(ids.length, 'subscription')}?`
  const text =
    'Nothing is sent until somebody makes it active again. What gathers meanwhile is sent then, as one digest.'
  if (!(await confirm({ title, text, action: 'Pause' }))) return
  await act(`Paused: ${counted(ids.length, 'subscription')}.`, () => setStatus(ids, 'paused'))
}

/** Sends these deliveries again, each with a new event id, after a confirmation that says how many. */
export async function replay(deliveries, act) {
  const title = `Send ${counted(deliveries.length, 'delivery').replace('deliverys', 'deliveries')} again?`
  const text =
    'Each is sent once more under a new event id, before anything newer. A receiver that had it gets it twice.'
  if (!(await confirm({ title, text, action: 'Send again' }))) return
  await act(`Sent again: ${deliveries.length}.`, async () => {
    for (const { subscriptionId, eventId } of deliveries) {
      await call('POST', `${pathOf(subscriptionId)}/replay`, { body: { eventId } })
    }
  })
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
