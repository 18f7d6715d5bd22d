import type { IncomingMessage } from 'node:http'
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { specTypeSchemas } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { a2aOperations } from '../../src/fronts/access/a2a-operations.ts'
import { publicRoutes } from '../../src/fronts/access/public-routes.ts'
import { asksForWebSocket } from '../../src/fronts/http/upgrade.ts'
import { mcpOperations as mcpRoutes } from '../../src/fronts/mcp/http/mcp-table.ts'
import { operatorTools } from '../../src/fronts/mcp/operator/table.ts'
import { promptNames } from '../../src/fronts/mcp/prompts/prompts.ts'
import { resourceKinds } from '../../src/fronts/mcp/resources/uris.ts'
import { tools } from '../../src/fronts/mcp/tools/table.ts'
import { restTable } from '../../src/fronts/rest/table.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { a2aOperations as a2aFuzz } from '../misuse/fuzz/a2a-operations.ts'
import { grpcOperations as grpcFuzz } from '../misuse/fuzz/grpc-operations.ts'
import { mcpOperations as mcpFuzz } from '../misuse/fuzz/mcp-operations.ts'
import type { Operation } from '../misuse/fuzz/operation.ts'
import { restOperations as restFuzz } from '../misuse/fuzz/rest-operations.ts'
import { report, stream } from '../misuse/fuzz/socket-fuzzer.ts'
import { fieldsIn, fieldsOf } from './fields.ts'

/** True when an operation of the fuzz run is a request of a route, as Express writes it. */
function isOf(route: string, { method, path }: Pick<Operation, 'method' | 'path'>): boolean {
  const pattern = route
    .replaceAll(/[.+]/g, '\\$&')
    .replace(/\{\*\w+\}/, '.+')
    .replaceAll(/(?<!\\):\w+/g, '(?:[^/:]+|:\\w+)')
  return new RegExp(`^${pattern}$`).test(`${method} ${path}`)
}

const notIn = (all: readonly string[], given: readonly (string | undefined)[]): string[] =>
  all.filter((one) => !given.includes(one))
const withoutRequest = (routes: readonly string[], fuzz: readonly Operation[]): string[] =>
  routes.filter((route) => !fuzz.some((one) => isOf(route, one)))
const schemaOf = (type: z.ZodType | undefined): unknown => type && z.toJSONSchema(type, { io: 'input' })

describe('the fuzz run changes requests', () => {
  test('of every route of REST, and of those that need no key', () => {
    const routes = [...restTable.routes.map(({ route }) => route), ...publicRoutes]
    expect(withoutRequest(routes, restFuzz)).toEqual([])
  })

  test.each(restTable.routes)('$route: with every field of its body and its query', ({ route, body, query }) => {
    const fuzz = restFuzz.filter((one) => isOf(route, one))
    const given = fuzz.flatMap((one) => [...fieldsIn(one.body), ...fieldsIn(one.query)])
    expect(notIn([...fieldsOf(schemaOf(body)), ...fieldsOf(schemaOf(query))], given)).toEqual([])
  })

  test('of every WebSocket, with what is sent on it', () => {
    const upgrading = restTable.routes.filter(({ route }) => {
      const [method, url] = route.split(' ')
      return asksForWebSocket({ method, url, headers: { upgrade: 'websocket' } } as IncomingMessage)
    })
    expect(upgrading.map(({ route }) => route)).toEqual([`${stream.method} ${stream.path}`])
    const reports = restTable.match(report.method, report.path)!.route
    expect(notIn(fieldsOf(schemaOf(reports.body)), fieldsIn(report.body))).toEqual([])
  })
})

describe('the fuzz run changes requests of A2A', () => {
  const inVersion = (version: string) => a2aFuzz.filter(({ headers }) => headers?.['A2A-Version'] === version)
  const below = (version: string): Operation[] =>
    inVersion(version).map((one) => ({ ...one, path: one.path.replace('/agents/mallory', '') }))
  const methodsIn = (version: string) => inVersion(version).map(({ body }) => (body as JsonObject | undefined)?.method)

  test.each([
    ['1.0', a2aOperations.map(({ name }) => name)],
    ['0.3', a2aOperations.flatMap(({ legacyRpc = [] }) => legacyRpc)],
  ])('of every method over JSON-RPC in %s', (version, methods) => {
    expect(notIn(methods, methodsIn(version) as string[])).toEqual([])
  })

  test.each([
    ['1.0', a2aOperations.flatMap(({ http }) => http)],
    ['0.3', a2aOperations.flatMap(({ legacyHttp }) => legacyHttp)],
  ])('of every method over HTTP+JSON in %s', (version, routes) => {
    expect(withoutRequest(routes, below(version))).toEqual([])
  })

  test.each([A2AService, LegacyA2AService].flatMap((service) => Object.values(service)))(
    'over gRPC: $path',
    ({ path, requestDeserialize }) => {
      const fuzz = grpcFuzz.filter(({ method }) => method.path === path)
      expect(fuzz).not.toEqual([])
      const fields = Object.keys(requestDeserialize(Buffer.alloc(0)))
      expect(
        notIn(
          fields,
          fuzz.flatMap(({ params }) => fieldsIn(params)),
        ),
      ).toEqual([])
    },
  )
})

describe('the fuzz run changes requests of MCP', () => {
  const bodies = mcpFuzz.map(({ headers = {}, body }) => ({
    hasSession: headers['Mcp-Session-Id'] !== undefined,
    ...(body as { method?: string; params?: { name?: string; uri?: string; arguments?: JsonObject } } | undefined),
  }))
  const eras = [true, false].map((hasSession) => bodies.filter((one) => one.hasSession === hasSession))

  test('with every method of HTTP that it has', () => {
    expect(
      withoutRequest(
        mcpRoutes.map(({ route }) => route),
        mcpFuzz,
      ),
    ).toEqual([])
  })

  test.each(['ClientRequest', 'ClientNotification'] as const)('of every method of the protocol: %s', (name) => {
    const { options } = specTypeSchemas[name] as unknown as { options: z.ZodObject<{ method: z.ZodLiteral<string> }>[] }
    const methods = options.map(({ shape }) => shape.method.value)
    expect(methods.length).toBeGreaterThan(3)
    expect(
      notIn(
        methods,
        bodies.map(({ method }) => method),
      ),
    ).toEqual([])
  })

  test.each(tools)('of the tool $name, with every argument, in both eras', ({ name, input }) => {
    for (const era of eras) {
      const calls = era.filter(({ method, params }) => method === 'tools/call' && params?.name === name)
      expect(calls).not.toEqual([])
      expect(
        notIn(
          fieldsOf(schemaOf(input)),
          calls.flatMap(({ params }) => fieldsIn(params?.arguments)),
        ),
      ).toEqual([])
    }
  })

  test.each(operatorTools)('of the tool for operators $name, with every argument', ({ name, input }) => {
    const calls = bodies.filter(({ method, params }) => method === 'tools/call' && params?.name === name)
    expect(calls).not.toEqual([])
    expect(
      notIn(
        fieldsOf(schemaOf(input)),
        calls.flatMap(({ params }) => fieldsIn(params?.arguments)),
      ),
    ).toEqual([])
  })

  test('of every resource and every prompt, in both eras', () => {
    for (const era of eras) {
      const read = era
        .filter(({ method }) => method === 'resources/read')
        .map(({ params }) => new URL(params!.uri!).host)
      expect(notIn(resourceKinds, read)).toEqual([])
      const asked = era.filter(({ method }) => method === 'prompts/get').map(({ params }) => params?.name)
      expect(notIn(promptNames, asked)).toEqual([])
    }
  })
})
