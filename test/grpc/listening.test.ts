import { createServer } from 'node:net'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Server as GrpcServices } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'
import { GrpcServer } from '../../src/fronts/grpc/grpc-server.ts'
import { overConnections } from '../../src/fronts/grpc/services.ts'
import { createApp } from '../../src/gateway/app.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway } from '../support/gateway.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { servedMs } from '../support/served-time.ts'
import { bearer, rawClient } from './raw-client.ts'

interface Interface {
  readonly url: string
  readonly protocolBinding: string
  readonly protocolVersion: string
}

async function grpcInterfaces(env: Record<string, string>) {
  await using gateway = await startGateway({ env })
  await gateway.addAgent('donna')
  const path = '/agents/donna/.well-known/agent-card.json'
  const { body } = await gateway.call('GET', path)
  const { body: legacy } = await gateway.call('GET', path, undefined, { headers: { 'A2A-Version': '0.3' } })
  const urls = (body.supportedInterfaces as Interface[])
    .filter(({ protocolBinding }) => protocolBinding === 'GRPC')
    .map(({ url }) => url)
  const legacyUrls = (legacy.additionalInterfaces as JsonObject[])
    .filter(({ transport }) => transport === 'GRPC')
    .map(({ url }) => url)
  return { listening: gateway.grpcTarget, urls, legacyUrls, extensions: body.capabilities.extensions }
}

test('cards advertise the address that is listened on', async () => {
  const { listening, urls, legacyUrls } = await grpcInterfaces({})
  expect(listening).toMatch(/^127\.0\.0\.1:\d+$/)
  expect([urls, legacyUrls]).toEqual([[listening, listening], [listening]])
})

test('with a public URL, its host with the gRPC port', async () => {
  const { listening, urls } = await grpcInterfaces({ ROUSE_PUBLIC_URL: 'https://rouse.example/gateway' })
  expect(urls[0]).toBe(`rouse.example:${listening?.split(':')[1]}`)
})

test('or the configured target', async () => {
  const env = { ROUSE_PUBLIC_URL: 'https://rouse.example', ROUSE_GRPC_PUBLIC_TARGET: 'grpc.rouse.example:443' }
  expect((await grpcInterfaces(env)).urls).toEqual(['grpc.rouse.example:443', 'grpc.rouse.example:443'])
})

test('off means no port, and no gRPC in a card', async () => {
  const { listening, urls, legacyUrls, extensions } = await grpcInterfaces({ ROUSE_GRPC_PORT: 'off' })
  expect({ listening, urls, legacyUrls, extensions }).toEqual({
    listening: undefined,
    urls: [],
    legacyUrls: [],
    extensions: undefined,
  })
})

test('a port in use is reported with its setting, and leaves nothing open', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  const first = await startGateway()
  await first.stop()
  const config = envToConfig({ ROUSE_PORT: '0', ROUSE_GRPC_PORT: String(port), ROUSE_DATA_DIR: first.dataDir })
  const second = createApp(config)
  await expect(second.start()).rejects.toMatchObject({
    code: 'EADDRINUSE',
    port,
    message: expect.stringMatching(/ROUSE_GRPC_PORT.*EADDRINUSE/),
  })
  await new Promise((resolve) => taken.close(resolve))
  await using third = await startGateway({ dataDir: first.dataDir, env: { ROUSE_GRPC_PORT: String(port) } })
  expect(third.grpcTarget).toBe(`127.0.0.1:${port}`)
})

test('calls that arrive before the gateway is ready wait; other protocols disturb no call', async () => {
  await using server = new GrpcServer()
  const target = await server.listen('127.0.0.1', 0)
  using client = rawClient(target)
  const answer = client.unary('getTask', { tenant: '', id: 'a' }, {})
  const services = new GrpcServices()
  services.addService(A2AService, {
    getTask: (_: unknown, done: (error: null, task: object) => void) => done(null, task),
  })
  server.serve(async () => overConnections(services))
  expect(await answer).toMatchObject({ value: { id: 'a' } })
  await expect(fetch(`http://${target}`)).rejects.toThrow()
  expect(await client.unary('getTask', { tenant: '', id: 'a' }, {})).toMatchObject({ value: { id: 'a' } })
})

test('serve says where gRPC listens, and a stop with open streams ends the process with 0', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.send(donna, 'long work')
  using client = rawClient(gateway.grpcTarget)
  const streams = [1, 2].map(() =>
    client.stream('subscribeToTask', { tenant: 'agents/donna', id }, bearer(gateway.adminKey)),
  )
  const ended = streams.map((stream) => stream.toArray().catch(({ code }) => code))
  for (const stream of streams) await new Promise((resolve) => stream.once('metadata', resolve))
  const startedAt = servedMs()
  expect(await gateway.kill('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: expect.any(String) })
  expect(servedMs() - startedAt).toBeLessThan(3_000)
  expect(await Promise.all(ended)).toEqual([14, 14])
})

const task = { id: 'a', contextId: 'c', status: undefined, artifacts: [], history: [], metadata: undefined }
