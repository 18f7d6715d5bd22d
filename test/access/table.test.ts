import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as legacy from '@a2a-js/sdk/compat/v0_3'
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { restHandler } from '@a2a-js/sdk/server/express'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { a2aOperations, grpcOperation, rpcOperation } from '../../src/fronts/access/a2a-operations.ts'
import { authorise } from '../../src/fronts/access/authorise.ts'
import { publicRoutes } from '../../src/fronts/access/public-routes.ts'
import { createFront } from '../../src/fronts/front.ts'
import { metricsOperation } from '../../src/fronts/http/metrics.ts'
import { mcpOperations } from '../../src/fronts/mcp/http/mcp-table.ts'
import { openTable, restOperations, restTable } from '../../src/fronts/rest/table.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import { accessPage } from './page.ts'
import { routesOf } from './routes.ts'

// Only the routes are read: nothing is called.
const context = {
  admission: {},
  sessions: {},
  subscriptions: {},
  mail: { limits: {} },
  claims: {},
  metricsPage: { isOpen: false },
} as unknown as Parameters<typeof createFront>[0]
const routedByExpress = routesOf(createFront(context).router)
const rows = restOperations.map(({ route }) => route)

test('the routes of Express outside of /v1 are listed as public, but those of MCP and the metrics', () => {
  const ofMcp = [...mcpOperations, metricsOperation].map(({ route }) => route)
  expect(routedByExpress).toEqual(expect.arrayContaining(ofMcp))
  const outside = routedByExpress.filter((route) => !route.includes(' /v1/') && !ofMcp.includes(route))
  const inTable = openTable.routes.map(({ route }) => route as string)
  expect([...new Set(outside), ...inTable].sort()).toEqual([...publicRoutes].sort())
})

test('below /v1 every route of Express is in the table', () => {
  expect(routedByExpress.filter((route) => route.includes(' /v1/') && !rows.includes(route))).toEqual([])
  expect(rows.filter((route) => !route.includes(' /v1/'))).toEqual([])
  expect(new Set(rows).size).toBe(rows.length)
})

test('the input of every route can be written as JSON Schema', () => {
  for (const { body, query } of restTable.routes) {
    for (const schema of [body, query]) {
      expect(schema === undefined || z.toJSONSchema(schema, { io: 'input' })).toBeTruthy()
    }
  }
})

test('a path has the methods of its rows', () => {
  expect(restTable.methodsOf('/v1/wake-subscriptions/x/replay')).toEqual(['POST'])
  expect(restTable.methodsOf('/v1/sessions/x')).toEqual(['GET', 'PUT', 'DELETE'])
})

test('names are unique: the audit is read by them', () => {
  const names = [...restOperations, ...a2aOperations, ...mcpOperations, metricsOperation].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

describe('A2A', () => {
  test('the paths of HTTP+JSON are those of the SDK, in its order', () => {
    const sdk = restHandler({
      requestHandler: {} as never,
      userBuilder: async () => ({ isAuthenticated: false, userName: '' }),
      legacyCompat: { enabled: true },
    })
    const withTenant = (route: string) => [route, route.replace(' ', ' /:tenant')]
    const [legacyRoutes, routes] = [routesOf(sdk).slice(0, 11), routesOf(sdk).slice(11)]
    expect(routes).toEqual(a2aOperations.flatMap(({ http }) => http.flatMap(withTenant)))
    // Here a task's subscription and its end may be tried in either order: no path is both.
    expect(legacyRoutes.sort()).toEqual(a2aOperations.flatMap(({ legacyHttp }) => legacyHttp).sort())
  })

  test('every method of JSON-RPC that the SDK has is an operation', () => {
    const methods = Object.entries(legacy).filter(([name]) => name.startsWith('LEGACY_METHOD_'))
    expect(methods.length).toBe(10)
    for (const [, method] of methods) {
      expect(rpcOperation(method as string, true)?.name, String(method)).toBe(
        legacy.legacyJsonRpcToV1Method(method as string),
      )
    }
    for (const { name } of a2aOperations) {
      expect(legacy.isV1JsonRpcMethod(name)).toBe(true)
      expect(rpcOperation(name, false)?.name).toBe(name)
    }
    for (const none of ['__proto__', 'constructor', 'sendMessage', 'undefined', '']) {
      expect([rpcOperation(none, false), rpcOperation(none, true)]).toEqual([undefined, undefined])
    }
  })

  test('every method of gRPC is an operation', () => {
    for (const { path } of Object.values(A2AService)) {
      expect(grpcOperation(path)?.name).toBe(path.split('/')[2])
    }
    for (const { path } of Object.values(LegacyA2AService)) expect(grpcOperation(path)?.legacyGrpc, path).toBeDefined()
    expect(grpcOperation('/lf.a2a.v1.A2AService/__proto__')).toBeUndefined()
    expect(grpcOperation('/another.Service/SendMessage')).toBeUndefined()
  })
})

describe('a path is read as Express reads it', () => {
  test.each([
    ['GET', '/v1/agents', 'agent.list'],
    ['HEAD', '/v1/agents/', 'agent.list'],
    ['DELETE', '/V1/Agents/donna', 'agent.remove'],
    ['PATCH', '/v1/agents/a%2Fkeys', 'agent.change'],
    ['POST', '/v1/claims/HANDOFF', 'claim.handOff'],
  ])('%s %s', (method, path, name) => {
    expect(restTable.match(method, path)?.route.operation?.name).toBe(name)
  })

  test.each([
    '/v1',
    '/v1/',
    '/v1/agents//',
    '/v1//agents',
    '/v1/agents/a/b',
    '/v1/%61gents',
    '/v1/audit/x',
    '/v1/nothing',
  ])('%s is none', (path) => {
    expect([restTable.match('GET', path), restTable.methodsOf(path)]).toEqual([undefined, []])
  })
})

test('an operator that is not one of all projects makes no projects; without its scope it does nothing', () => {
  const row = restOperations.find(({ name }) => name === 'project.make')!
  expect(() => authorise(row, operator)).not.toThrow()
  expect(() => authorise(row, { ...operator, role: 'manager' })).toThrow(/role admin/)
  expect(() => authorise(row, { ...operator, scopes: [] })).toThrow(/needs the scope "manage".* has none/)
})

test('docs/access.md matches the code: npm run access:docs', () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/access.md'), 'utf8')).toBe(accessPage())
})
