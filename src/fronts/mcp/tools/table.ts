import type { AnyTool } from './tool.ts'
import { whoami } from './whoami.ts'

/** Every tool of the MCP front, in the order of `tools/list`. */
export const tools: readonly AnyTool[] = [whoami]
