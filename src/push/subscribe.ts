import { Problem } from '../errors.ts'
import { newUlid } from '../lib/ids.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { isLoopbackHost } from '../security/url-guard.ts'
import type { Database } from '../storage/database.ts'
import { countDevices, listDevices, type PushDevice, removeDevice, saveDevice } from './push-store.ts'
import { isPublicKey, type VapidKeys } from './vapid.ts'

const devicesOfKeyMax = 10
const devicesOfProjectMax = 100
/** Bytes. */
const authLength = 16

/** The parts for notifications of browsers. */
export interface PushRoom {
  readonly db: Database
  readonly loadKeys: () => Promise<VapidKeys>
  /** Errors: `invalid-request` and `url-not-allowed` for a URL that this gateway sends nothing to. */
  readonly checkUrl: (url: string, field: string) => URL
}

interface DeviceInput extends Pick<PushDevice, 'endpoint' | 'p256dh' | 'auth'> {
  readonly label: string | null
}

/**
 * Adds the browser of an operator. One that is known, by its endpoint in the project, is changed. Errors: `invalid-request`, `url-not-allowed`,
 * `limit-exceeded`.
 */
export async function addDevice(room: PushRoom, caller: Caller, input: DeviceInput): Promise<PushDevice> {
  const { db, checkUrl } = room
  const { protocol, hostname } = checkUrl(input.endpoint, 'endpoint')
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) throw invalid('endpoint', 'must be an https address.')
  if (!isPublicKey(input.p256dh))
    throw invalid('keys.p256dh', 'must be a point of P-256, not compressed, in base64url.')
  if (Buffer.from(input.auth, 'base64url').length !== authLength)
    throw invalid('keys.auth', `must be ${authLength} bytes in base64url.`)
  return db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    const { keyId, projectId, expiresAt = null } = caller
    const own = await listDevices(tx, keyId)
    const known = own.find((one) => one.projectId === projectId && one.endpoint === input.endpoint)
    if (!known) {
      requireRoom('key', own.length, devicesOfKeyMax)
      requireRoom('project', await countDevices(tx, projectId), devicesOfProjectMax)
    }
    const given = { ...input, projectId, keyId, expiresAt, cursorLogId: 0, dueAt: tx.now, tries: 0, createdAt: tx.now }
    const id = await saveDevice(tx, { ...given, id: `PUSH:${newUlid(tx.now)}` })
    return { ...given, createdAt: known?.createdAt ?? tx.now, id }
  })
}

/** Removes a browser that was added with the same key. Errors: `not-found`. */
export async function endDevice({ db }: Pick<PushRoom, 'db'>, { keyId }: Caller, id: string): Promise<void> {
  if (await db.transaction((tx) => removeDevice(tx, id, keyId))) return
  throw new Problem('not-found', {
    detail: `This key has added no browser with the id ${id}.`,
  })
}

const invalid = (field: string, rule: string) => new Problem('invalid-request', { field, detail: `${field}: ${rule}` })

function requireRoom(of: string, taken: number, max: number): void {
  if (taken < max) return
  throw new Problem('limit-exceeded', {
    detail: `This ${of} has ${taken} browsers that take notifications, and may have no more. Remove one that is not used.`,
    extra: { max },
  })
}
