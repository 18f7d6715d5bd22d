import type { RegistryContext } from '../registry/agents/agents.ts'
import type { SessionContext } from '../sessions/context.ts'

/** Identity works with this: what ends with a key also ends sessions, and changes subscriptions. */
export interface IdentityContext extends RegistryContext {
  readonly sessions: SessionContext
}
