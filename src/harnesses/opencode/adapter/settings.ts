import { readFileSync } from 'node:fs'
import type { AdapterContext, SettingMeaning } from '../../../bridge/adapter.ts'

/** The settings of OpenCode. The password itself is never in them. */
export const settings = {
  port: {
    type: 'number',
    help: 'the port of an OpenCode that is not found by its name, for example under another program',
  },
  username: { type: 'string', help: 'the name beside the password; OPENCODE_SERVER_USERNAME, else opencode' },
  passwordVariable: {
    type: 'string',
    help: 'the variable of the bridge that has the password of the server; OPENCODE_SERVER_PASSWORD',
  },
  passwordFile: { type: 'string', help: 'the file that has the password of the server' },
} as const satisfies Readonly<Record<string, SettingMeaning>>

/** The port that the user has named. Errors: it is none. */
export function namedPort({ settings: { port } }: AdapterContext): number | undefined {
  if (port === undefined) return undefined
  if (Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536) return Number(port)
  throw new Error(`opencode.port: ${JSON.stringify(port)} is no port. Give a number from 1 to 65535.`)
}

/** The header for the servers of OpenCode; undefined: no password is set. It is read anew each time. Errors: a file that cannot be read. */
export function authorizationOf({ env, settings }: AdapterContext): string | undefined {
  const password = passwordOf(env, settings)
  if (!password) return undefined
  const username = textOf(settings.username) ?? env.OPENCODE_SERVER_USERNAME ?? 'opencode'
  return basic(username, password)
}

/** The value of the header of HTTP Basic. Source: RFC 7617. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function passwordOf(env: AdapterContext['env'], settings: AdapterContext['settings']): string | undefined {
  const path = textOf(settings.passwordFile)
  if (path === undefined) return env[textOf(settings.passwordVariable) ?? 'OPENCODE_SERVER_PASSWORD']
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`opencode.passwordFile: ${path} cannot be read (${code}).`, { cause: error })
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
