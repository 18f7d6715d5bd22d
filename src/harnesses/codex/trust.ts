import { isJsonObject } from '../../lib/json.ts'
import { broken, type Check, ok, unknown } from '../check.ts'
import type { Place } from '../places.ts'
import { talk } from '../talk.ts'

const name = 'trust in the hooks'
const answerMaxMs = 10_000

/** Asks Codex whether its user trusts our hooks: it runs no others, and says nothing. Changes nothing. Source: S1-15. */
export async function checkTrust(program: string, place: Place): Promise<Check> {
  const clientInfo = { name: 'rouse', title: 'Rouse', version: '1' }
  const messages = [
    { id: 1, method: 'initialize', params: { clientInfo, capabilities: { experimentalApi: true } } },
    { method: 'initialized' },
    { id: 2, method: 'hooks/list', params: { cwds: [place.cwd] } },
  ]
  const say = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
  const command = { path: program, args: ['app-server'], env: place.env, cwd: place.cwd, timeoutMs: answerMaxMs }
  const { lines } = await talk(command, say, (found) => hooksIn(found) !== undefined)
  const hooks = hooksIn(lines)
  if (hooks === undefined) return unknown(name, 'this version of Codex does not say')
  const trusted = hooks.filter((hook) => hook.trustStatus === 'trusted' && hook.enabled)
  if (hooks.length > 0 && trusted.length === hooks.length) return ok(name, `all ${hooks.length} are trusted`)
  const detail = `${trusted.length} of ${hooks.length} are trusted: Codex runs no hook that is not`
  return broken(name, detail, 'codex   (it says "Hooks need review": review and trust them)')
}

function hooksIn(lines: readonly string[]): ListedHook[] | undefined {
  for (const line of lines) {
    try {
      const { id, result } = JSON.parse(line) as { id?: unknown; result?: unknown }
      if (id !== 2) continue
      return ownHooks(result)
    } catch {
      // Not ours.
    }
  }
  return undefined
}

/** A hook as `hooks/list` of Codex's app-server describes it. It runs only if it is trusted and enabled. */
interface ListedHook {
  readonly command: string
  readonly trustStatus: string
  readonly enabled: boolean
}

/** Returns our hooks of an answer to `hooks/list`; undefined: it is no such answer. Pure. */
export function ownHooks(answer: unknown): ListedHook[] | undefined {
  if (!isJsonObject(answer) || !Array.isArray(answer.data)) return undefined
  const hooks = answer.data.flatMap((folder) => (folder as { hooks?: ListedHook[] }).hooks ?? [])
  return hooks.filter(({ command }) => / hook codex /.test(command))
}
