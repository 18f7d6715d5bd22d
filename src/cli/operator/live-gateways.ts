import { listLiveGateways } from '../../cluster/gateway-store.ts'
import type { Clock } from '../../lib/clock.ts'
import { markedKeyIds } from '../../security/key-marks.ts'
import type { SecretBox } from '../../security/secret.ts'
import type { Database } from '../../storage/database.ts'

/** Throws while a gateway of the store runs, or may run: after a crash that is unknown for some seconds. */
export async function requireNoGateway(db: Database, clock: Clock): Promise<void> {
  const { length: count } = await listLiveGateways(db, clock.now())
  if (count === 0) return
  throw new Error(
    `${count === 1 ? 'A gateway of this store runs' : `${count} gateways of this store run`}, so the encryption key is not lost: set ROUSE_ENCRYPTION_KEY as the gateways have it. ` +
      'Nothing was changed. If the key is lost nevertheless, stop all gateways first; one that crashed counts for another 20 seconds.',
  )
}

/**
 * Throws when gateways run and none of them encrypts with the newest key of the box: they may be unable to read what it seals. A gateway
 * records its newest key at its start and every five seconds. Call it before this process records that key.
 */
export async function requireKnownToGateways(db: Database, box: SecretBox, clock: Clock): Promise<void> {
  const newest = box.keyIds[0]!
  if ((await listLiveGateways(db, clock.now())).length === 0) return
  if ((await markedKeyIds(db)).includes(newest)) return
  throw new Error(
    `The gateways of this store do not encrypt with the key ${newest}, and could not read what it encrypts. Nothing was changed. ` +
      'Set ROUSE_ENCRYPTION_KEY as the gateways have it. To change it: give every gateway "<old> <new>", then every gateway "<new> <old>", then run this with that list.',
  )
}
