import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { HostsFile } from '../../src/security/hosts-file.ts'
import type { NameResolverOptions } from '../../src/security/name-resolver.ts'
import type { AskName } from '../../src/security/name-servers.ts'
import { OutboundError } from '../../src/security/outbound-error.ts'
import { OutboundFetch, type OutboundFetchOptions, type OutboundRequest } from '../../src/security/outbound-fetch.ts'
import { atTestEnd } from '../support/ends.ts'

export const payer = { projectId: 'default', agentId: 'agent_donna' }
export const loopback = ['127.0.0.0/8']

/** Runs when the test is over. What is given first runs first. */
export const onCleanup = atTestEnd

export function fetcher(options: Partial<OutboundFetchOptions> = {}): OutboundFetch {
  const out = new OutboundFetch({ allow: loopback, ...options })
  // Closing waits for the requests that run, and a server that is gone ends them at once.
  atTestEnd(() => atTestEnd(() => out.close()))
  return out
}

export function request(url: string): OutboundRequest {
  return { url, headers: {}, body: '{}', payer, timeoutMs: 10_000 }
}

export async function serve(handler: http.RequestListener): Promise<string> {
  return (await serveCounting(handler)).url
}

export async function serveCounting(handler: http.RequestListener) {
  const server = http.createServer(handler)
  const sockets = new Set<net.Socket>()
  let connections = 0
  server.on('connection', (socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  return { url: await listen(server), connections: () => connections, open: () => sockets.size }
}

/** Starts a server on a free loopback port and breaks its connections when the test ends. */
export async function listen(server: net.Server): Promise<string> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    sockets.add(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atTestEnd(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Names that resolve to these addresses, without a query to the network. */
export function answering(addresses: readonly string[]): { names: NameResolverOptions } {
  return asking(async () => found(addresses))
}

export function asking(ask: AskName): { names: NameResolverOptions } {
  return { names: { ask, hosts: noHosts } }
}

export const noHosts = new HostsFile('/nonexistent/hosts')

export function found(addresses: readonly string[], ttlSeconds = 60) {
  return { addresses: addresses.map((address) => ({ address, family: net.isIP(address) })), ttlSeconds }
}

export async function errorOf(work: Promise<unknown>): Promise<OutboundError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OutboundError)
  return error as OutboundError
}

export async function textOf(req: http.IncomingMessage): Promise<string> {
  return Buffer.concat(await req.toArray()).toString()
}

export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
