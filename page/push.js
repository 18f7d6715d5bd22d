import { call, get, readable } from './api.js'
import { dropKey } from './key.js'

const worker = '/page/worker.js'
const patienceMs = 3_000

/** The one script that this page starts beside itself. */
const scripts = globalThis.trustedTypes?.createPolicy('rouse-worker', { createScriptURL: () => worker })

const registration = () => navigator.serviceWorker?.getRegistration('/page/')

/** The notices of this device: `off`, `unable`, `denied`, `ready` or `on`, and its subscription at the gateway. */
export async function noticesOf(push) {
  if (!push?.enabled) return { state: 'off' }
  if (!('serviceWorker' in navigator && 'PushManager' in globalThis)) return { state: 'unable' }
  if (Notification.permission === 'denied') return { state: 'denied' }
  const subscription = await subscriptionHere()
  const own = subscription && push.subscriptions.find(({ endpoint }) => endpoint === subscription.endpoint)
  return own ? { state: 'on', own } : { state: 'ready' }
}

/** Asks the person, then the browser's push service, and gives the gateway its address. */
export async function startNotices({ publicKey }) {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('This browser was not allowed to show notices.')
  await navigator.serviceWorker.register(scripts?.createScriptURL('') ?? worker, { scope: '/page/' })
  const { pushManager } = await readyRegistration()
  // The key of another gateway, or of one that was set up anew, is of no use here.
  await (await pushManager.getSubscription())?.unsubscribe()
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) })
  const { endpoint, keys } = made.toJSON()
  return call('POST', '/v1/push/subscriptions', { body: { endpoint, keys, label: deviceName() } })
}

export async function endNotices({ subscriptionId }) {
  await call('DELETE', `/v1/push/subscriptions/${encodeURIComponent(subscriptionId)}`)
  await unsubscribe()
}

/** Signs out by hand. The notices of this device end first; a gateway that does not answer keeps nobody signed in. */
export async function signOut() {
  const patience = new Promise((resolve) => setTimeout(resolve, patienceMs, false))
  const isEnded = await Promise.race([endOwnNotices(), patience]).catch(() => false)
  // Without the gateway the browser ends them alone: its push service takes no more.
  if (!isEnded) unsubscribe().catch(() => {})
  dropKey()
}

async function endOwnNotices() {
  if (!(await subscriptionHere())) return true
  const { state, own } = await noticesOf(await readable(get('/v1/push'), null))
  if (state === 'on') await endNotices(own)
  return true
}

const subscriptionHere = async () => (await registration())?.pushManager?.getSubscription()
const unsubscribe = async () => (await subscriptionHere())?.unsubscribe()

async function readyRegistration() {
  const found = await registration()
  if (found.active) return found
  const starting = found.installing ?? found.waiting
  await new Promise((resolve) =>
    starting.addEventListener('statechange', () => starting.state === 'activated' && resolve()),
  )
  return found
}

function bytesOf(base64url) {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}

/** `Chrome on Linux`, as far as the browser says it. */
function deviceName() {
  const brand = navigator.userAgentData?.brands?.find(({ brand: name }) => !/not.a.brand|chromium/i.test(name))?.brand
  const system = navigator.userAgentData?.platform ?? navigator.platform
  return `${brand ?? 'Browser'} on ${system || 'a device'}`.slice(0, 60)
}
