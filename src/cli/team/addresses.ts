import { bareHandle } from '../../client/gateway-client.ts'

/** `@donna` for `donna`, `@donna` and `@Donna`. */
export const handleOf = (text: string): string => `@${bareHandle(text).toLowerCase()}`

/** True when a text may be a handle: it becomes part of a file's name. The gateway has the whole rule. */
export const isHandle = (handle: string): boolean => /^@[a-z0-9][a-z0-9_.-]*$/.test(handle)

/** `web:@mike` for `web:mike`; without a project as `handleOf`. */
export function addressOf(text: string): string {
  const at = text.indexOf(':')
  return at < 0 ? handleOf(text) : `${text.slice(0, at).trim().toLowerCase()}:${handleOf(text.slice(at + 1))}`
}

/** As it is written in YAML, where a text that begins with `@` needs quotes: `donna`. */
export const shortOf = (address: string): string => address.replace(/^@/, '')

/** Returns what gives the handle for each name of these agents, and every other address unchanged. */
export function resolverOf(
  project: string,
  agents: readonly { handle: string; aliases?: readonly string[]; displayName?: string | null }[],
): (address: string) => string {
  const handles = new Map<string, string>()
  for (const { handle, displayName } of agents) if (displayName) handles.set(handleOf(displayName), handle)
  for (const { handle, aliases = [] } of agents) for (const name of [...aliases, handle]) handles.set(name, handle)
  return (address) => {
    const own = address.startsWith(`${project}:`) ? address.slice(project.length + 1) : address
    return handles.get(own) ?? own
  }
}
