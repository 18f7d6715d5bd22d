import { type LocalAddress, localAddress, thisMachine } from '../bridge/local/address.ts'
import { UsageError } from '../client/failure.ts'
import type { Piece, Value } from '../config-files/document.ts'
import { shellCommand } from '../lib/shell-command.ts'
import type { EntryChoices, HarnessFile } from './harness.ts'
import { homeOf, type Place } from './places.ts'

/** The name of our server in every harness. */
export const serverName = 'rouse'

/** The variable that holds the key for a harness that calls the gateway itself. */
export const keyVariable = 'ROUSE_KEY'

/** The words of the server that a harness starts. */
export function serverWords({ launch, profile }: EntryChoices): { command: string; args: string[] } {
  const [command = '', ...args] = launch
  return { command, args: [...args, 'mcp', ...profile] }
}

/**
 * Returns the variables that the server needs to find the profiles, for a harness that passes only a few variables to its servers.
 * `listed`: the variables that it passes anyway.
 */
export function serverEnv({ place }: EntryChoices, listed: readonly string[]): { env?: Record<string, string> } {
  const home = place.platform === 'win32' ? 'USERPROFILE' : 'HOME'
  const needed = { [home]: homeOf(place), XDG_CONFIG_HOME: place.env.XDG_CONFIG_HOME }
  const missing = Object.entries(needed).filter(([name, value]) => value && !listed.includes(name))
  return missing.length === 0 ? {} : { env: Object.fromEntries(missing) as Record<string, string> }
}

/** The property for our server. */
export function server(path: readonly string[], value: Value): Piece {
  return { kind: 'property', path: [...path, serverName], value }
}

/** The command of a hook: it reads the harness's JSON and answers in the harness's form. */
function hookCommand(harness: string, event: string, { launch, profile, place }: EntryChoices): string {
  return shellCommand([...launch, 'hook', harness, event, ...profile], place.platform)
}

/** One hook for each event, each as the harness wants it. */
export function hooks(
  harness: string,
  events: readonly string[],
  wanted: EntryChoices,
  form: (command: string, event: string) => Value,
): Piece[] {
  return events.map((event) => ({
    kind: 'element',
    path: ['hooks', event],
    value: form(hookCommand(harness, event, wanted), event),
  }))
}

/** The form of Claude Code, which several harnesses have taken over. The unit of the time-out is the harness's. */
export function grouped(more: { readonly [name: string]: Value }): (command: string) => Value {
  return (command) => ({ hooks: [{ type: 'command', command, ...more }] })
}

/** The value of one server. */
export type Entry = { readonly [name: string]: Value }

/** The header with the key, which the harness reads from its environment: each has its own way to say so. */
export const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` })

/** A hook ends by itself after two seconds. */
export const hookSeconds = 10

/** A hook that holds a request of the harness for a person ends by itself before. */
export const approvalSeconds = 600

export function json(path: string, holds: string, pieces: HarnessFile['pieces']): HarnessFile {
  return { path, format: 'json', holds, pieces }
}

/** A file that only `rouse install` writes. */
export function ownFile(path: string, holds: string, text: string): HarnessFile {
  return { path, format: 'whole', holds, pieces: [{ kind: 'property', path: [], value: text }] }
}

/** The address of the bridge of this user. Errors: there is no place for one. */
export function bridgeAddress({ env }: Place): LocalAddress {
  const address = localAddress(env, thisMachine())
  if (address === undefined) throw new UsageError('There is no home directory: set HOME or XDG_CONFIG_HOME.')
  return address
}

/** The property that says the form of a file of hooks. */
export const version = { kind: 'property', path: ['version'], value: 1 } as const
