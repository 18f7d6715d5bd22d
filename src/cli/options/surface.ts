import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'

/** Returns the surface: from the option, otherwise from the environment. Source: S2-16. */
export function surfaceOf(option: string | undefined, env: Io['env']): string {
  const surface = option ?? env.ROUSE_AGENT_SURFACE?.trim()
  if (surface) return surface
  throw new UsageError(
    'Name the harness with --surface or ROUSE_AGENT_SURFACE: claude_code, claude_desktop, codex, cursor, or a name of your own.',
  )
}
