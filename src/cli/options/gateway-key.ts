import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { clientFetch } from '../../client/client-fetch.ts'
import { Unreachable } from '../../client/failure.ts'
import type { Credentials } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { profilePath } from '../../client/profile-file.ts'
import { readSecret } from '../../client/secret-input.ts'
import { proofOfInstance } from '../../security/instance-proof.ts'
import { readKeyFile } from '../../security/key-files.ts'
import { requirePrivate } from '../../security/private-files.ts'
import { secretsEqual } from '../../security/secret.ts'
import type { Access, AccessOptions } from './choose-access.ts'

const defaultDataDir = './.rouse'
const proofMaxMs = 5_000

/**
 * The bearer key, from the first of these that has one: the flags, the profile, ROUSE_KEY, the file that ROUSE_KEY_FILE names, the
 * data directory (its admin key). `chooseAccess` says whether the profile is used.
 */
export async function gatewayCredentials(
  options: AccessOptions,
  io: Io,
  { url, profile }: Access,
): Promise<Credentials> {
  const { ROUSE_KEY: key, ROUSE_KEY_FILE: file } = io.env
  if (options.key !== undefined) return { key: options.key, source: '--key' }
  if (options.keyFile !== undefined) {
    return { key: readSecret(options.keyFile, '--key-file', io), source: `--key-file ${options.keyFile}` }
  }
  if (profile) return { key: profile.key, source: `profile ${profile.name} (${profilePath(io.env)})` }
  if (key) return { key, source: 'ROUSE_KEY' }
  if (file) return { key: readSecret(file, 'ROUSE_KEY_FILE', io), source: `ROUSE_KEY_FILE (${file})` }
  return adminCredentials(io, url)
}

/**
 * A key that was found in a directory is sent to that directory's own gateway only. On this machine the gateway has to prove that
 * it is. On another machine a directory that was named on purpose is enough, and TLS proves the gateway's name.
 */
async function adminCredentials(io: Io, url: string): Promise<Credentials> {
  const directory = io.env.ROUSE_DATA_DIR || defaultDataDir
  const { protocol, hostname } = new URL(url)
  const isHere = isLoopback(hostname)
  if (!isHere && !io.env.ROUSE_DATA_DIR) return {}
  const path = join(directory, 'admin.key')
  const key = readKeyFile(directory, 'admin.key')
  if (!key) return {}
  requirePrivate('secret', path, (closed, mode) => io.stderr(`${closed} was open to others (mode ${mode}): closed.\n`))
  if (isHere) return { key, source: path, url: await provenUrl(io, directory, url) }
  if (protocol === 'https:') return { key, source: path }
  throw new Error(
    `The admin key in ${path} was not sent to ${url}: without TLS everybody on the way can read it. Use https, or insist with --key-file ${path}`,
  )
}

/** The address with `localhost` resolved to one address, so that the proven address is the one that is called. Errors: another gateway, or none. */
async function provenUrl(io: Io, directory: string, url: string): Promise<string> {
  const target = new URL(url)
  // Over TLS the name stays: the certificate is for the name.
  if (target.hostname === 'localhost' && target.protocol === 'http:') target.hostname = '127.0.0.1'
  const base = target.href.replace(/\/+$/, '')
  const instanceKey = readKeyFile(directory, 'instance.key')
  const challenge = randomBytes(24).toString('base64url')
  const proof = instanceKey === undefined ? undefined : await askForProof(io, base, challenge, url)
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
  const addresses = target.hostname === 'localhost' ? ['127.0.0.1', '::1'] : [target.hostname.replace(/^\[|\]$/g, '')]
  const isProvenBy = (key: string, given: string): boolean =>
    addresses.some((address) => secretsEqual(given, proofOfInstance(key, { challenge, address, port })))
  if (instanceKey && proof && isProvenBy(instanceKey, proof)) return base
  const path = join(directory, 'admin.key')
  throw new Error(
    `Whoever answers at ${url} did not prove to be the gateway of ${directory}, so the admin key there was not sent. ` +
      `Name that gateway's address (--url, ROUSE_URL), or, if you are sure of this one, insist with --key-file ${path}`,
  )
}

async function askForProof(io: Io, base: string, challenge: string, url: string): Promise<string | undefined> {
  try {
    const response = await (io.fetch ?? clientFetch)(`${base}/.well-known/rouse-instance?challenge=${challenge}`, {
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(proofMaxMs),
      redirect: 'error',
    })
    const text = await response.text()
    const { proof } = response.ok ? (JSON.parse(text) as { proof?: unknown }) : {}
    return typeof proof === 'string' ? proof : undefined
  } catch (error) {
    if (io.signal?.aborted) throw io.signal.reason
    if (error instanceof SyntaxError) return undefined
    const cause = (error as { cause?: { code?: string } }).cause
    throw new Unreachable(url, cause?.code ?? (error as Error).message)
  }
}

/** True when a host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}
