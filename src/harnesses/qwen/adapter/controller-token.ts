import { readFileSync } from 'node:fs'
import type { AdapterContext } from '../../../bridge/adapter.ts'
import { requirePrivate } from '../../../security/private-files.ts'

const pattern = /^qpc_[0-9a-f]{64}$/

const howToMint =
  'Qwen Code takes messages of a program that its user trusts: run `qwen sessions controllers add --label rouse`, put the token into a file of mode 600, and name the file in `controllerTokenFile` of qwen.'

/** Where the user keeps the token of a controller. */
type TokenPlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'none' }

/** Errors: both places, with the names of the fields. */
export function tokenPlace({
  controllerTokenFile: path,
  controllerTokenVariable: name,
}: AdapterContext['settings']): TokenPlace {
  if (path !== undefined && name !== undefined) {
    throw new Error('qwen.controllerTokenFile and qwen.controllerTokenVariable: name one of them.')
  }
  // The token itself in the configuration would be in every copy of it.
  if ([path, name].some((one) => typeof one === 'string' && one.startsWith('qpc_'))) {
    throw new Error('qwen: the configuration names where the token is, not the token. Put it into a file of mode 600.')
  }
  if (typeof path === 'string') return { kind: 'file', path }
  return typeof name === 'string' ? { kind: 'variable', name } : { kind: 'none' }
}

/** Reads the token: at each use, since its user may replace it. A problem says what to do, and never shows what was read. */
export function readToken(
  place: TokenPlace,
  env: AdapterContext['env'],
): { readonly token: string } | { readonly problem: string } {
  if (place.kind === 'none') return { problem: howToMint }
  const where = place.kind === 'file' ? place.path : `$${place.name}`
  try {
    if (place.kind === 'file') requirePrivate('secret', place.path, () => {})
    const token = (place.kind === 'file' ? readFileSync(place.path, 'utf8') : (env[place.name] ?? '')).trim()
    if (pattern.test(token)) return { token }
    return { problem: `${where} does not hold one token of a controller (qpc_ and 64 hex digits). ${howToMint}` }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: code === undefined ? message : `${where} cannot be read (${code}). ${howToMint}` }
  }
}
