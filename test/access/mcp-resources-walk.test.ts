import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { promptNames } from '../../src/fronts/mcp/prompts/prompts.ts'
import { resourceKinds } from '../../src/fronts/mcp/resources/uris.ts'
import { restOperations } from '../../src/fronts/rest/table.ts'
import { askMcp } from '../fronts/mcp/http/call-tool.ts'
import { expected } from './expected.ts'
import { restCases } from './rest-requests.ts'
import { everybody, isAllOfDonna, secret, startWorld, strangers, type Who, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const known = everybody.filter((who) => !strangers.includes(who))
const ask = (who: Who, method: string, params = {}) => askMcp(world.gateway, world.keyOf(who), method, params)

/** The resources of donna's that are read as a row of the access table says. */
const readAs = { inbox: 'inbox.read', thread: 'thread.read', task: 'task.read' } as const

test('every kind of resource is read here', () => {
  expect([...Object.keys(readAs), 'agent'].sort()).toEqual([...resourceKinds].sort())
})

describe.each(Object.entries(readAs))('a resource of the kind %s (%s)', (kind, row) => {
  const operation = restOperations.find(({ name }) => name === row)!

  test('is read by whom the route lets read it, and shows nothing to others', async () => {
    const { path } = await restCases[row]!.plant(world)
    const name = kind === 'inbox' ? 'default:donna' : path.split('/')[3]
    const before = await world.heads()
    for (const who of everybody) {
      const outcome = expected(operation, who, restCases[row]!)
      const { status, body } = await ask(who, 'resources/read', { uri: `rouse://${kind}/${name}` })
      const text = JSON.stringify(body)
      expect(status === 401, `${who}: ${text}`).toBe(outcome === 'unauthenticated')
      expect(body.result !== undefined, `${who}: ${text}`).toBe(outcome === 'ok')
      if (outcome === 'ok') expect(text, who).toContain(secret)
      else expect(text, who).not.toMatch(/CANARY/)
    }
    expect(await world.changesSince(before)).toEqual([])
  })
})

test('the card of an agent is a resource for every key, and of another project only by its address', async () => {
  for (const who of known) {
    const { body } = await ask(who, 'resources/read', { uri: 'rouse://agent/@donna' })
    const isElsewhere = who === 'zoe' || who === 'manager elsewhere'
    expect(body.result === undefined, `${who}: ${JSON.stringify(body)}`).toBe(isElsewhere)
  }
  for (const who of strangers) {
    const { status, body } = await ask(who, 'resources/read', { uri: 'rouse://agent/@donna' })
    expect([status, body.error?.data?.code], who).toEqual([401, 'unauthenticated'])
  }
})

test('a list of resources has what the caller may list, and nothing of another project', async () => {
  const { path } = await restCases['task.read']!.plant(world)
  const task = `rouse://task/${path.split('/')[3]}`
  for (const who of known) {
    const { body } = await ask(who, 'resources/list')
    const uris: string[] = body.result.resources.map(({ uri }: { uri: string }) => uri)
    expect(JSON.stringify(body), who).not.toContain(secret)
    const mayReadTask = expected(restOperations.find(({ name }) => name === 'task.read')!, who, {})
    expect(uris.includes(task), who).toBe(mayReadTask === 'ok')
    const isAtHome = who !== 'zoe' && who !== 'manager elsewhere'
    const reads = !who.startsWith('donna') || isAllOfDonna(who) || who === 'donna, read only'
    expect(uris.includes('rouse://agent/@donna'), who).toBe(isAtHome && reads)
  }
})

test.each<[method: string, params: Record<string, unknown>]>([
  ['prompts/list', {}],
  ['prompts/get', { name: promptNames[0] }],
  ['prompts/get', { name: promptNames[1], arguments: { task: 'the-ref', to: '@donna' } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['tools/list', {}],
])('%s %j is answered to every key and to nobody else, without anything of others', async (method, params) => {
  for (const who of strangers) {
    const { status, body } = await ask(who, method, params)
    expect([status, body.error?.data?.code, body.result], who).toEqual([401, 'unauthenticated', undefined])
  }
  for (const who of known) {
    const { status, body } = await ask(who, method, params)
    expect([status, body.error], who).toEqual([200, undefined])
    expect(JSON.stringify(body), who).not.toMatch(/CANARY/)
  }
})
