import { readFileSync } from 'node:fs'
import type { LocalAddress } from '../../../../bridge/local/address.ts'

/**
 * The text of our plugin for OpenCode, with the socket of this user's bridge in it. It loads nothing of ours, so that it works as long
 * as its user has a bridge, whichever version.
 */
export function pluginText({ path }: LocalAddress): string {
  const text = readFileSync(new URL('./rouse-plugin.js', import.meta.url), 'utf8')
  return text.replace(/(["'])rouse:address\1/, () => JSON.stringify(path))
}
