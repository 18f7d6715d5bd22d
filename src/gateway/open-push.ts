import type { Config } from '../config/config.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import type { Base } from '../log/core.ts'
import { PushSender } from '../push/push.ts'
import { listPushProjects } from '../push/push-store.ts'
import { loadVapidKeys, vapidName } from '../push/vapid.ts'
import type { OutboundFetch } from '../security/outbound-fetch.ts'
import type { SecretBox } from '../security/secret.ts'
import { SharedSecret } from '../security/shared-secret.ts'

interface PushParts extends Base {
  readonly outbound: OutboundFetch
  readonly secrets: SecretBox
  readonly publicUrl: string
}

/** Push services ask for an address of whoever sends. A gateway without one on the network has none. */
const noContact = 'mailto:operator@rouse.invalid'

/** Opens what notifies browsers of operators. Undefined: it is off. Nothing is made or loaded before somebody asks for it. */
export function openPush({ push: isOn }: Pick<Config, 'push'>, parts: PushParts, undo: Cleanup) {
  if (!isOn) return undefined
  const { db, secrets, outbound, publicUrl } = parts
  const loadKeys = () => loadVapidKeys(new SharedSecret(db, secrets, vapidName))
  const contact = publicUrl.startsWith('https:') ? publicUrl : noContact
  const sender = undo.use(new PushSender({ ...parts, loadKeys, contact }))
  return {
    room: { db, loadKeys, checkUrl: (url: string, field: string) => outbound.checkUrl(url, field) },
    projects: () => listPushProjects(db),
    notify: sender.notify.bind(sender),
  }
}
