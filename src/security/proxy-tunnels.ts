import http from 'node:http'
import https from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { isIP } from 'node:net'
import type { buildConnector } from 'undici'
import type { Logger } from '../logger/logger.ts'
import { OutboundError } from './outbound-error.ts'

interface TunnelOptions {
  readonly proxy: URL
  readonly log: Logger
  readonly timeoutMs: number
  /** True when an address is public. All others are dialled without the proxy, in whose network they may mean another machine. */
  readonly isPublic: (address: string) => boolean
}

/** The proxy's answer to CONNECT. */
interface Tunnel {
  readonly status: number
  readonly socket: Socket
}

/**
 * Connections to public addresses through a proxy (CONNECT, RFC 9110 section 9.3.6). The proxy gets the address that was checked and not its
 * name, so it cannot reach another one. Its own address is the operator's, and is not checked.
 */
export class ProxyTunnels {
  readonly #options: TunnelOptions
  readonly #credentials: Record<string, string>
  #isLost = false

  constructor(options: TunnelOptions) {
    const { username, password } = options.proxy
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    this.#options = options
    this.#credentials = pair === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
  }

  /** Makes the connector of an origin. `direct` dials without the proxy, and makes the TLS of a connection that is there. */
  connector(lookup: LookupFunction, direct: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      const { hostname, protocol, port } = options
      const connect = async (): Promise<void> => {
        const addresses = await addressesOf(hostname, lookup)
        if (!addresses.every(this.#options.isPublic)) return direct(options, callback)
        const httpSocket = await this.#open(addresses, port || (protocol === 'https:' ? '443' : '80'))
        if (protocol === 'https:') direct({ ...options, httpSocket }, callback)
        else callback(null, httpSocket)
      }
      connect().catch((error: Error) => callback(error, null))
    }
  }

  /** Rejects with an OutboundError: `busy` when the proxy is at fault, and not the receiver. */
  async #open(addresses: readonly string[], port: string): Promise<Socket> {
    let refusal = 0
    for (const address of addresses) {
      const { status, socket } = await this.#ask(isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`)
      if (status === 200) return socket
      socket.destroy()
      if (status === 407) throw this.#lost('it asks for another user and password (407)')
      refusal = status
    }
    throw new OutboundError('connect', `could not connect: the proxy answered ${refusal}`)
  }

  #ask(target: string): Promise<Tunnel> {
    const { proxy, timeoutMs } = this.#options
    const send = proxy.protocol === 'https:' ? https.request : http.request
    const { hostname, port } = proxy
    const headers = { host: target, ...this.#credentials }
    const where = { host: hostname.replace(/^\[|\]$/g, ''), ...(port && { port }) }
    return new Promise((resolve, reject) => {
      let isReached = false
      const request = send({ ...where, method: 'CONNECT', path: target, headers, agent: false })
      const late = setTimeout(
        () => request.destroy(new OutboundError('connect', 'could not connect in time')),
        timeoutMs,
      )
      request.once('socket', (socket) => {
        socket.once('connect', () => {
          isReached = true
        })
      })
      request.once('connect', ({ statusCode: status = 0 }, socket: Socket, head) => {
        clearTimeout(late)
        socket.on('error', () => {})
        if (head.length > 0) socket.unshift(head)
        if (status !== 407) this.#found()
        resolve({ status, socket })
      })
      request.once('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(late)
        // A proxy that was reached waits for the receiver.
        reject(isReached && error instanceof OutboundError ? error : this.#lost(error.code ?? error.message))
      })
      request.end()
    })
  }

  #lost(reason: string): OutboundError {
    if (!this.#isLost) {
      const remedy = 'Correct ROUSE_WEBHOOK_PROXY, or start the proxy.'
      this.#options.log.error({ reason, remedy }, 'proxy.lost')
    }
    this.#isLost = true
    return new OutboundError('busy', 'the proxy of the gateway does not connect')
  }

  #found(): void {
    if (this.#isLost) this.#options.log.info({}, 'proxy.back')
    this.#isLost = false
  }
}

/** An address of a URL was checked with the URL. */
function addressesOf(hostname: string, lookup: LookupFunction): Promise<string[]> {
  if (isIP(hostname) !== 0) return Promise.resolve([hostname])
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error) reject(error)
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address))
    })
  })
}
