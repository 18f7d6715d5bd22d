import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operatorToolSet, operatorTools } from '../../../src/fronts/mcp/operator/table.ts'
import { tools } from '../../../src/fronts/mcp/tools/table.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { operator } from '../../../src/registry/callers/caller.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { askMcp } from './http/call-tool.ts'
import { connectNew, connectOld } from './http/clients.ts'
import { initialize } from './http/wire.ts'
import { faultsOf } from './schema-faults.ts'

let gateway: TestGateway
let donna: TestAgent
let admin: Pick<TestAgent, 'key'>
let viewer: Pick<TestAgent, 'key'>
beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  admin = { key: gateway.adminKey }
  viewer = { key: (await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })).body.operatorKey }
})
afterAll(() => gateway[Symbol.asyncDispose]())

const named = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name)
const reading = named(operatorTools).filter((name) => name.endsWith('_read'))

type Version = '1.x' | 'legacy' | 'auto' | '2026-07-28'
const connect = (who: Pick<TestAgent, 'key'>, version: Version, path: string) =>
  version === '1.x' ? connectOld(gateway, who, { path }) : connectNew(gateway, who, version, path)

describe.each<Version>(['1.x', 'legacy', 'auto', '2026-07-28'])('the official client %s', (version) => {
  test('of a viewer lists what reads, and calls it', async () => {
    await using one = await connect(viewer, version, '/mcp?tools=read')
    const { client } = one
    expect(named((await client.listTools()).tools)).toEqual(reading)
    expect(client.getInstructions()).toContain('needs_read')
    expect(client.getInstructions()).not.toContain('task_write')
    const { structuredContent } = await client.callTool({ name: 'gateway_read', arguments: {} })
    expect(structuredContent).toMatchObject({ ready: true, project: 'default', role: 'viewer', scopes: ['read'] })
    await expect(client.callTool({ name: 'task_write', arguments: {} })).rejects.toThrow(
      /There is no tool "task_write"/,
    )
    await expect(client.callTool({ name: 'send_message', arguments: {} })).rejects.toThrow(/There is no tool/)
  })

  test('of an admin lists both sets where both are asked for', async () => {
    await using one = await connect(admin, version, '/mcp?tools=read,write')
    expect(named((await one.client.listTools()).tools)).toEqual(named(operatorTools))
    await using writing = await connect(admin, version, '/mcp?tools=write')
    expect(named((await writing.client.listTools()).tools)).toEqual(
      named(operatorTools).filter((name) => name.endsWith('_write')),
    )
  })

  test('of an agent, and of an operator that asks for nothing, lists the tools of agents', async () => {
    for (const who of [donna, admin]) {
      await using one = await connect(who, version, '/mcp')
      expect(named((await one.client.listTools()).tools)).toEqual(named(tools))
      await expect(one.client.callTool({ name: 'needs_read', arguments: {} })).rejects.toThrow(/There is no tool/)
    }
  })
})

test.each<[string, string, number, RegExp]>([
  ['donna', 'read', 403, /these tools are for operators/],
  ['viewer', 'read,write', 403, /of the kind write need the scopes read and manage, or read, send and work/],
  ['admin', 'all', 400, /tools: is read, write or read,write/],
  ['admin', '', 400, /tools: is read, write or read,write/],
])('%s that asks for "%s" is refused with the reason, in both eras', async (who, asked, status, says) => {
  const of = { donna, viewer, admin }[who]!
  const path = `/mcp?tools=${asked}`
  const modern = await askMcp(gateway, of.key, 'tools/list', {}, path)
  const legacy = await gateway.call('POST', path, initialize(), { key: of.key })
  for (const answer of [modern, legacy]) {
    expect(answer.status).toBe(status)
    expect(answer.body.error).toMatchObject({ message: expect.stringMatching(says), data: { field: 'tools' } })
  }
  for (const version of ['1.x', '2026-07-28'] as const) await expect(connect(of, version, path)).rejects.toThrow()
})

test('the sets are exactly what the names say, and what reads declares it', () => {
  for (const { name, annotations } of operatorTools) {
    expect(annotations.readOnlyHint, name).toBe(name.endsWith('_read'))
  }
  expect(reading.length).toBeLessThan(operatorTools.length)
  expect(named(tools).filter((name) => named(operatorTools).includes(name))).toEqual([])
})

test('a key has the tools whose scopes it has, and the instructions name the others', () => {
  const { tools: some, instructions } = operatorToolSet(['read', 'write'], {
    ...operator,
    scopes: ['read', 'send', 'work'],
  })
  expect(named(some)).toEqual([...reading, 'task_write', 'message_write', 'need_write'])
  expect(instructions).toContain('Your key lacks a scope for subscription_write, recovery_write.')
  expect(() => operatorToolSet(['read'], { ...operator, scopes: ['work'] })).toThrow(/need the scopes read\./)
})

test('each tool is one that every provider takes, and little weight', async () => {
  await using one = await connect(admin, '2026-07-28', '/mcp?tools=read,write')
  const { tools: listed } = await one.client.listTools()
  for (const { name, title, description, inputSchema, outputSchema } of listed) {
    expect(title, name).toBeTruthy()
    expect(description!.length, name).toBeLessThan(900)
    expect(inputSchema.additionalProperties, name).toBe(false)
    const faults = [...faultsOf(inputSchema, name), ...faultsOf(outputSchema, `${name} result`, true)]
    expect(faults).toEqual([])
  }
  expect(JSON.stringify(listed).length).toBeLessThan(32_000)
  expect(Buffer.byteLength(one.client.getInstructions()!)).toBeLessThan(2_048)
})

test('there are resources, and no prompts that would name the tools of agents', async () => {
  await using one = await connect(viewer, '2026-07-28', '/mcp?tools=read')
  const { client } = one
  expect(client.getServerCapabilities()?.prompts).toBeUndefined()
  const { contents } = await client.readResource({ uri: 'rouse://agent/@donna' })
  expect((contents[0] as JsonObject).text).toContain('donna')
})
