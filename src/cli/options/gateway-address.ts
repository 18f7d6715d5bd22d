import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'

const defaultUrl = 'http://127.0.0.1:4520'

/** The gateway's address: the flag, else ROUSE_URL, else the profile's, else the default address. Without a slash at the end. */
export function gatewayUrl(flag: string | undefined, env: Io['env'], ofProfile?: string): string {
  const text = flag ?? (env.ROUSE_URL || ofProfile || defaultUrl)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `"${text}" is not a gateway address. Give a URL such as ${defaultUrl} with --url or ROUSE_URL.`,
    )
  }
  return url.href.replace(/[?#].*$/, '').replace(/\/+$/, '')
}
