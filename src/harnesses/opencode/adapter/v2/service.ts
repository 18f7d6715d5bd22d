import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Io } from '../../../../client/io.ts'
import { getFrom, type ServerAddress } from '../http/call.ts'
import { basic } from '../settings.ts'

/** The server of OpenCode 2, which all terminals of a user share. */
export interface V2Service {
  readonly address: ServerAddress
  readonly pid: number
  readonly version: string
}

const serviceFile = z.object({ url: z.url(), pid: z.number().int().positive(), password: z.string().min(1) })
const info = z.object({ version: z.string(), pid: z.number() })

/**
 * The running service of OpenCode 2; undefined: there is none; a text: why it is not used. The file that names it must belong to this user
 * and be readable only by this user, and the process must confirm its identity.
 */
export async function findService(
  env: Io['env'],
  uid: number | undefined,
  signal: AbortSignal,
): Promise<V2Service | string | undefined> {
  const path = servicePath(env)
  const stats = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  if (path === undefined || stats === undefined) return undefined
  if (uid !== undefined && (stats.uid !== uid || (stats.mode & 0o077) !== 0)) {
    return `${path} is not only yours: OpenCode 2 writes it with mode 600. It is not used.`
  }
  const file = serviceFile.safeParse(readJson(path))
  if (!file.success) return `${path} is not what OpenCode 2 writes. It is not used.`
  const { pid, password } = file.data
  const url = new URL(file.data.url)
  if (!loopback.has(url.hostname)) return `${path} names ${url.host}, which is not this machine. It is not used.`
  const address = { url: url.origin, authorization: basic('opencode', password) }
  const info = await ask(address, signal)
  if (info?.pid !== pid) return undefined
  return { address, pid, version: info.version }
}

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Undefined: nothing answers, or another program does. The file stays when OpenCode is killed. */
async function ask(address: ServerAddress, signal: AbortSignal): Promise<z.infer<typeof info> | undefined> {
  const answer = await getFrom(address, '/api/info', signal).catch(() => undefined)
  signal.throwIfAborted()
  return info.safeParse(answer?.body).data
}

function servicePath({ XDG_STATE_HOME, HOME }: Io['env']): string | undefined {
  if (XDG_STATE_HOME) return join(XDG_STATE_HOME, 'opencode/service.json')
  return HOME ? join(HOME, '.local/state/opencode/service.json') : undefined
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
