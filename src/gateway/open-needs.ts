import type { Config } from '../config/config.ts'
import { readTellable } from '../fronts/rest/needs/collect.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import type { Core } from '../log/core.ts'
import { needSweep } from '../needs/need-sweep.ts'
import { PushSender } from '../push/push.ts'
import { listPushProjects, removeDevicesOfKey } from '../push/push-store.ts'
import { loadVapidKeys, vapidName } from '../push/vapid.ts'
import { operatorOf } from '../registry/callers/caller.ts'
import type { OutboundFetch } from '../security/outbound-fetch.ts'
import type { SecretBox } from '../security/secret.ts'
import { SharedSecret } from '../security/shared-secret.ts'

interface NeedParts extends Core {
  readonly outbound: OutboundFetch
  readonly secrets: SecretBox
  readonly publicUrl: string
}

/** Push services ask for the address of the sender. A gateway that is not on the network has none, and gives this one. */
const noContact = 'mailto:operator@rouse.invalid'

/** Opens what notifies operators of needs, also in their browsers. Nothing is made or loaded for that before somebody asks for it. */
export function openNeeds({ push: isOn }: Pick<Config, 'push'>, parts: NeedParts, undo: Cleanup) {
  const { db, clock, log, secrets, outbound, publicUrl } = parts
  const loadKeys = () => loadVapidKeys(new SharedSecret(db, secrets, vapidName))
  const contact = publicUrl.startsWith('https:') ? publicUrl : noContact
  const sender = undo.use(new PushSender({ db, clock, log, outbound, loadKeys, contact }))
  const push = { projects: () => listPushProjects(db), notify: sender.notify.bind(sender) }
  const readNeeds = (id: string) => readTellable({ db, now: clock.now(), caller: operatorOf(id) })
  return {
    /** Undefined: notifications of browsers are off. */
    push: isOn ? { db, loadKeys, checkUrl: outbound.checkUrl.bind(outbound) } : undefined,
    sweep: needSweep({ ...parts, push: isOn ? push : undefined, readNeeds }),
    /** Removes the browsers that were added with a key. */
    endDevices(keyId: string): void {
      const removing = db.transaction((tx) => removeDevicesOfKey(tx, keyId))
      removing.catch((err: unknown) => log.error({ err }, 'push.devices_kept'))
    },
  }
}
