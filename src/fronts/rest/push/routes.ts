import { z } from 'zod'
import { Problem } from '../../../errors.ts'
import { sizeLimits } from '../../../limits.ts'
import { listDevices, type PushDevice } from '../../../push/push-store.ts'
import { addDevice, endDevice, type PushRoom } from '../../../push/subscribe.ts'
import { line } from '../fields.ts'
import { instant } from '../instant.ts'
import { route } from '../route.ts'

/** As `PushSubscription.toJSON()` of a browser has it. */
const newDevice = z.strictObject({
  endpoint: line(sizeLimits.url.max).min(1),
  keys: z.strictObject({ p256dh: line(100).min(1), auth: line(30).min(1) }),
  label: line(100).optional(),
})
const access = { scope: 'read', operator: 'any', agent: 'never', peer: 'never' } as const

/** A browser that takes notifications. Instants are ISO 8601. */
export interface PushDeviceView {
  readonly subscriptionId: string
  readonly endpoint: string
  readonly label: string | null
  readonly createdAt: string
}

export interface PushView {
  readonly enabled: boolean
  /** `applicationServerKey` of a browser, in base64url; null: it is off. */
  readonly publicKey: string | null
  /** Those that were added with this key. */
  readonly subscriptions: readonly PushDeviceView[]
}

/** `/v1/push`: the browsers of operators that take notifications of what stops work (Web Push, RFC 8030). */
export const pushRoutes = [
  route('GET /v1/push', {
    name: 'push.read',
    what: 'see which of its browsers take notifications',
    access: { ...access, audited: 'no' },
    handle: async ({ caller }, { db, push }): Promise<PushView> => {
      if (!push) return { enabled: false, publicKey: null, subscriptions: [] }
      const { publicKey } = await push.loadKeys()
      return { enabled: true, publicKey, subscriptions: (await listDevices(db, caller.keyId)).map(deviceView) }
    },
  }),
  route('POST /v1/push/subscriptions', {
    name: 'push.subscribe',
    what: 'have notifications sent to a browser',
    // The gateway sends to the address: who only reads names none.
    access: { ...access, scope: 'work', audited: 'soon' },
    body: newDevice,
    status: 201,
    handle: async ({ caller, body, reply }, { push }): Promise<PushDeviceView> => {
      const { endpoint, keys, label = null } = body
      const device = await addDevice(required(push), caller, { ...keys, endpoint, label })
      reply.target = device.id
      return deviceView(device)
    },
  }),
  route('DELETE /v1/push/subscriptions/:id', {
    name: 'push.unsubscribe',
    what: 'end the notifications of a browser',
    access: { ...access, audited: 'soon' },
    status: 204,
    handle: async ({ caller, params }, context): Promise<void> => endDevice(context, caller, params.id),
  }),
] as const

function required(push: PushRoom | undefined): PushRoom {
  if (push) return push
  throw new Problem('forbidden', {
    detail: 'Notifications are off at this gateway. Whoever runs it sets ROUSE_PUSH=on.',
  })
}

function deviceView({ id, endpoint, label, createdAt }: PushDevice): PushDeviceView {
  return { subscriptionId: id, endpoint, label, createdAt: instant(createdAt) }
}
