import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server'
import { V1PushNotificationSerializer } from '@a2a-js/sdk/server'
import type { LogEvent } from '../../log/event.ts'
import type { Reader } from '../../storage/database.ts'
import { toPushResponse } from './task-view.ts'

const serializers = { '1.0': new V1PushNotificationSerializer(), '0.3': new V03PushNotificationSerializer() }

/** Bodies of push notifications in the specification's form (§4.3.3), or v0.3's. */
export function renderPush(
  db: Reader,
): (event: LogEvent, version: '1.0' | '0.3') => Promise<{ body: string; contentType: string }> {
  return async (event, version) => {
    const response = await toPushResponse(db, event, version)
    if (!response) throw new Error(`${event.type} is not pushed.`)
    return serializers[version].serialize(response)
  }
}
