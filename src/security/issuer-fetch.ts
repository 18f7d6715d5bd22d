import { Agent, type Dispatcher, request } from 'undici'
import { KiB } from '../limits.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { guardedLookup } from './guarded-lookup.ts'
import { NameResolver } from './name-resolver.ts'
import { judgeUrl } from './url-guard.ts'

/** The wait for an issuer, in ms, and the size of its discovery document or key set, in bytes. */
const answerMs = 5_000
const documentMax = 256 * KiB

/** Look-ups of issuers' names count as the gateway's own. */
const payer = { projectId: '', agentId: 'issuers' }

/**
 * Reads the documents of issuers. An address from the configuration is dialled without a check; one that an issuer names is
 * checked like a webhook's. Redirects are not followed, and size and time are bounded.
 */
export class IssuerFetch implements AsyncDisposable {
  readonly #policy: AddressPolicy
  readonly #names = new NameResolver()
  readonly #trusting: Dispatcher
  readonly #guarded: Dispatcher

  /** @param allow the ranges that webhooks may reach beside public addresses */
  constructor(allow: readonly string[]) {
    this.#policy = createAddressPolicy(allow)
    const timeout = answerMs
    this.#trusting = new Agent({ connections: 2, connect: { timeout } })
    this.#guarded = new Agent({
      connections: 2,
      connect: { timeout, lookup: guardedLookup(this.#policy, (hostname) => this.#names.resolve(hostname, payer)) },
    })
  }

  /** Reads the JSON at a URL. Rejects with an Error that gives the reason of a failure. */
  async readJson(url: string, trustedOrigins: readonly string[]): Promise<unknown> {
    const isTrusted = trustedOrigins.includes(new URL(url).origin)
    if (!isTrusted) this.#requireAllowed(url)
    const answer = await request(url, {
      method: 'GET',
      headers: { accept: 'application/json' },
      dispatcher: isTrusted ? this.#trusting : this.#guarded,
      signal: AbortSignal.timeout(answerMs),
    })
    const text = await readText(answer.body)
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
    return JSON.parse(text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#names.close()
    await Promise.all([this.#trusting.destroy(), this.#guarded.destroy()])
  }

  #requireAllowed(url: string): void {
    const verdict = judgeUrl(url, this.#policy)
    if (!verdict.ok) throw new Error(`${url}: ${verdict.detail}`)
    if (verdict.url.protocol !== 'https:') throw new Error(`${url}: an issuer names its keys by https only`)
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > documentMax) {
      throw new Error(`the document is larger than ${documentMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
