import { a2aOperations } from './a2a-operations.ts'
import { mcpOperations } from './mcp-operations.ts'
import type { Operation } from './operation.ts'
import { restOperations } from './rest-operations.ts'

/** Everything that is sent over HTTP. */
export const httpOperations: readonly Operation[] = [...restOperations, ...a2aOperations, ...mcpOperations]
