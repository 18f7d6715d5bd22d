import { constants, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { type Clock, sleep } from '../lib/clock.ts'
import { openToAll } from '../lib/open-to-all.ts'
import type { Logger } from '../logger/logger.ts'

/** Paths of PEM files. */
export interface TlsPaths {
  /** The certificate and its intermediate certificates. */
  readonly cert: string
  readonly key: string
  /** The CAs of client certificates; undefined: clients present none. */
  readonly clientCa: string | undefined
}

/** How often the files are read again. */
const lookEveryMs = 10_000
const dayMs = 24 * 60 * 60 * 1000
const soonMs = 14 * dayMs

/**
 * The gateway's certificate, from files that may be replaced while it runs. If a file cannot be used, the last certificate stays in
 * use, and the log gives the reason.
 */
export class TlsFiles implements AsyncDisposable {
  readonly #paths: TlsPaths
  readonly #clock: Clock
  readonly #log: Logger
  readonly #stopping = new AbortController()
  #read: string
  /** When the certificates in use end. */
  #ends: readonly End[]
  #warnedAt = Number.NEGATIVE_INFINITY
  #watching: Promise<void> | undefined
  /** Options for `createServer`. */
  readonly options: SecureContextOptions

  private constructor(paths: TlsPaths, clock: Clock, log: Logger, files: Files) {
    this.#paths = paths
    this.#clock = clock
    this.#log = log
    this.#read = textOf(files)
    this.#ends = endsOf(files, paths)
    this.options = optionsOf(files)
  }

  /** Reads the files. Throws an Error that names the file or the variable that is wrong. */
  static async open(paths: TlsPaths, clock: Clock, log: Logger): Promise<TlsFiles> {
    const files = await readFiles(paths)
    check(files, paths)
    await warnOfMode(paths.key, log)
    const tls = new TlsFiles(paths, clock, log, files)
    tls.#warnOfEnd()
    return tls
  }

  /** Passes on the new certificate whenever the files have changed and can be used. */
  watch(changed: (options: SecureContextOptions) => void): void {
    this.#watching ??= this.#watch(changed)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#watching
  }

  async #watch(changed: (options: SecureContextOptions) => void): Promise<void> {
    const { signal } = this.#stopping
    let refused = ''
    while (!signal.aborted) {
      await sleep(this.#clock, lookEveryMs, signal)
      if (signal.aborted) return
      this.#warnOfEnd()
      try {
        const files = await readFiles(this.#paths)
        const text = textOf(files)
        if (text === this.#read || text === refused) continue
        refused = text
        check(files, this.#paths)
        changed(optionsOf(files))
        this.#read = text
        refused = ''
        this.#ends = endsOf(files, this.#paths)
        this.#warnedAt = Number.NEGATIVE_INFINITY
        this.#warnOfEnd()
        this.#log.info({ cert: this.#paths.cert }, 'tls.reloaded')
      } catch (error) {
        this.#log.error({ reason: (error as Error).message }, 'tls.not_reloaded')
      }
    }
  }

  /** Warns of the ends of the certificates in use, before them and after them: at once, and then once a day. */
  #warnOfEnd(): void {
    const now = this.#clock.now()
    const soon = this.#ends.filter(({ at }) => at - now < soonMs)
    if (soon.length === 0 || now - this.#warnedAt < dayMs) return
    this.#warnedAt = now
    for (const { path, at } of soon)
      this.#log.warn({ cert: path, validTo: new Date(at).toISOString() }, 'tls.ends_soon')
  }
}

/** When a certificate of a file ends, in ms since the epoch. */
interface End {
  readonly path: string
  readonly at: number
}

interface Files {
  readonly cert: string
  readonly key: string
  readonly ca: string | undefined
}

async function readFiles({ cert, key, clientCa }: TlsPaths): Promise<Files> {
  const [certText, keyText, caText] = await Promise.all([
    readNamed('ROUSE_TLS_CERT', cert),
    readNamed('ROUSE_TLS_KEY', key),
    clientCa === undefined ? undefined : readNamed('ROUSE_TLS_CLIENT_CA', clientCa),
  ])
  return { cert: certText, key: keyText, ca: caText }
}

async function readNamed(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(`${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error })
  }
}

function textOf({ cert, key, ca = '' }: Files): string {
  return `${cert}\n${key}\n${ca}`
}

/**
 * Throws if the certificates or the key cannot be used, or if they do not belong together. Node itself refuses neither an empty file nor
 * certificates of a CA that it cannot read: for empty ones it uses the CAs that the world trusts.
 */
function check(files: Files, paths: TlsPaths): void {
  requireCertificates('ROUSE_TLS_CERT', paths.cert, files.cert)
  if (!/-----END [A-Z ]*PRIVATE KEY-----/.test(files.key))
    throw new Error(`ROUSE_TLS_KEY: ${paths.key} has no complete private key in PEM. Write the key to it.`)
  if (files.ca !== undefined) requireCertificates('ROUSE_TLS_CLIENT_CA', paths.clientCa ?? '', files.ca)
  try {
    createSecureContext(optionsOf(files))
  } catch (error) {
    const places = [paths.cert, paths.key, paths.clientCa].filter(Boolean).join(', ')
    throw new Error(
      `ROUSE_TLS_CERT and ROUSE_TLS_KEY are no certificate in PEM and its key (${places}): ${(error as Error).message}`,
      { cause: error },
    )
  }
}

/** The blocks of a PEM file, the last of which may be cut off. */
function blocksIn(text: string): string[] {
  return text.split(/(?=-----BEGIN)/).filter((block) => block.startsWith('-----BEGIN'))
}

function certificatesIn(text: string): string[] {
  return blocksIn(text).filter((block) => /^-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----/.test(block))
}

/** Throws if a file has no certificate, or if it has a block that is not complete or cannot be read. */
function requireCertificates(variable: string, path: string, text: string): void {
  const blocks = blocksIn(text)
  const certificates = certificatesIn(text)
  if (certificates.length === 0)
    throw new Error(`${variable}: ${path} has no certificate in PEM. Write the certificates to it.`)
  try {
    if (!blocks.every((block) => block.includes('-----END'))) throw new Error('the last block has no end')
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new Error(
      `${variable}: ${path} has a certificate that cannot be read (${(error as Error).message}). Write whole certificates in PEM to it.`,
      { cause: error },
    )
  }
}

function optionsOf({ cert, key, ca }: Files): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca, secureOptions: alwaysAsk }) }
}

/**
 * Every connection shows its client's certificate, once. In a session that is resumed nobody checks it, nor the certificates between it and
 * the CA; and a client that may renegotiate could replace the certificate that was checked.
 */
const alwaysAsk = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION

async function warnOfMode(path: string, log: Logger): Promise<void> {
  const open = openToAll(path, (await stat(path)).mode)
  if (open) log.warn(open, 'tls.key_open')
}

/** The ends of the gateway's own certificate, and of each CA of client certificates. */
function endsOf({ cert, ca = '' }: Files, { cert: path, clientCa = '' }: TlsPaths): End[] {
  return [
    { path, at: endOf(cert) },
    ...certificatesIn(ca).map((certificate) => ({ path: clientCa, at: endOf(certificate) })),
  ]
}

function endOf(certificate: string): number {
  return Date.parse(new X509Certificate(certificate).validTo)
}
