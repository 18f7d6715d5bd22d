import type { JsonObject } from '../lib/json.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { EventType } from '../words/events.ts'

type RecoveryEventType = Extract<EventType, `recovery.${string}`>

/** An event about what recovery does for an agent: to that agent and the operator. */
export function recoveryEvent(
  type: RecoveryEventType,
  { id, handle }: { readonly id: string; readonly handle: string },
  data: JsonObject,
): NewEvent {
  return { type, actor: gatewayIdentity, audience: [id, operatorAudience], data: { agent: handle, ...data } }
}
