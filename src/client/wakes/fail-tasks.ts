import { Refused } from '../failure.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { WakeContext } from './wake-context.ts'

/**
 * Moves the tasks of a wake to `failed` whose command has failed for good, so that nobody waits for them: those that the agent still works on.
 * `why`: what their originators learn. Returns the ids. Errors: `Unreachable`, and those of a gateway that fails. Source: D48.
 */
export async function failTasks(
  gateway: GatewayClient,
  agent: string | undefined,
  { tasks }: Pick<WakeContext, 'tasks'>,
  why: string,
): Promise<string[]> {
  const failed: string[] = []
  for (const { id } of tasks) {
    const params = { id }
    try {
      const { assignee, state, version } = await gateway.call('GET /v1/tasks/:id', { params })
      if (assignee !== agent || (state !== 'submitted' && state !== 'working')) continue
      const message = { parts: [{ text: why }] }
      await gateway.call('POST /v1/tasks/:id/transitions', {
        params,
        body: { to: 'failed', expectedVersion: version, message },
      })
      failed.push(id)
    } catch (error) {
      // Somebody has moved it meanwhile, or it is gone.
      if (!(error instanceof Refused) || Number(error.problem.status) >= 500) throw error
    }
  }
  return failed
}

/** The text for an originator. Pure. */
export function whyFailed(failure: string | undefined, lastLine: string): string {
  return `The command that was started for this task ${failure ?? 'failed'}${lastLine === '' ? '.' : `: ${lastLine}`}`
}
