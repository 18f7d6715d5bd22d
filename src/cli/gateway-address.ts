import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from './failure.ts'
import type { Io } from './io.ts'

const defaultUrl = 'http://127.0.0.1:4520'
const defaultDataDir = './.rouse'

/** Where the gateway is: the flag, else ROUSE_URL, else the default address. Without a slash at the end. */
export function gatewayUrl(flag: string | undefined, env: Io['env']): string {
  const text = flag ?? (env.ROUSE_URL || defaultUrl)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `"${text}" is not a gateway address. Give a URL such as ${defaultUrl} with --url or ROUSE_URL.`,
    )
  }
  return url.href.replace(/[?#].*$/, '').replace(/\/+$/, '')
}

/** The bearer key: the flag, else ROUSE_KEY, else the operator's key from the data directory. */
export function gatewayKey(flag: string | undefined, env: Io['env'], url: string): string | undefined {
  return flag ?? (env.ROUSE_KEY || adminKey(env, url))
}

/** A key found lying in a directory goes to this machine only, unless the directory was named on purpose. */
function adminKey(env: Io['env'], url: string): string | undefined {
  if (!env.ROUSE_DATA_DIR && !isLoopback(new URL(url).hostname)) return undefined
  try {
    return readFileSync(join(env.ROUSE_DATA_DIR || defaultDataDir, 'admin.key'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}
