import { readFileSync } from 'node:fs'
import { UsageError } from '../../../../failure.ts'
import type { Io } from '../../../../io.ts'
import { localAddress, thisMachine } from '../../../local/address.ts'

/** The text of our plugin for OpenCode, with the socket of this user's bridge in it. Errors: there is no home directory. */
export function pluginText({ env }: { readonly env: Io['env'] }): string {
  const address = localAddress(env, thisMachine())
  if (address === undefined) throw new UsageError('There is no home directory: set HOME or XDG_CONFIG_HOME.')
  const text = readFileSync(new URL('./rouse-plugin.js', import.meta.url), 'utf8')
  return text.replace(/(["'])rouse:address\1/, () => JSON.stringify(address.path))
}
