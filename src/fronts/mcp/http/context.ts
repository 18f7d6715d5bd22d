import type { FrontContext } from '../../front-context.ts'
import type { CallApi } from '../call-api.ts'
import type { McpCaller } from './call-in-session.ts'
import type { McpParts } from './open-parts.ts'

/** The parts of the gateway that `/mcp` needs. */
export interface McpFrontContext extends FrontContext {
  readonly mcp: McpParts
  /** Calls the gateway's API for a caller. */
  readonly callApi: (from: McpCaller) => CallApi
}
