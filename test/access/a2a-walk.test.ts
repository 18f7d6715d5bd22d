import type { Client } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { a2aOperations } from '../../src/fronts/access/a2a-operations.ts'
import type { Operation } from '../../src/fronts/access/operation.ts'
import { connect, dialects, saying } from '../a2a/connect.ts'
import { sending, wireTo } from '../a2a/wire.ts'
import type { TestAgent } from '../support/gateway.ts'
import { a2aCalls, type PlantedTask, plantTask } from './a2a-requests.ts'
import { everybody, isAllOfDonna, secret, startWorld, strangers, type Who, type World } from './world.ts'

let world: World
let desk: TestAgent
beforeAll(async () => {
  world = await startWorld()
  desk = await world.gateway.addAgent('desk')
})
afterAll(() => world[Symbol.asyncDispose]())

type Expected = 'ok' | 'unauthenticated' | 'forbidden' | 'hidden'

/** desk takes messages from its project; the task is donna's and desk's. */
function expected({ name, agent, scope, also, operator }: Operation, who: Who): Expected {
  if (strangers.includes(who)) return 'unauthenticated'
  if (who === 'zoe' || who === 'manager elsewhere') return 'forbidden'
  if (who === 'viewer') return scope !== 'read' ? 'forbidden' : operator === 'own' ? 'hidden' : 'ok'
  if (who.startsWith('donna'))
    return isAllOfDonna(who) || (who === `donna, ${scope} only` && !also) ? 'ok' : 'forbidden'
  if (who === 'operator' || who === 'manager' || who === 'anna') return operator === 'own' ? 'hidden' : 'ok'
  // A list is of the caller's own tasks there.
  return agent === 'welcome' || name === 'ListTasks' ? 'ok' : 'hidden'
}

/** The words of each binding for it, by the detail that all of them carry. */
const words: Record<Exclude<Expected, 'ok'>, RegExp> = {
  unauthenticated: /Send the header|API key is unknown/,
  forbidden: /needs the scope|accepts messages only from its own project|operator key is not valid for the project/,
  hidden: /no task|no push/i,
}

describe.each(dialects)('A2A $version over $binding', (dialect) => {
  // v0.3 has no list of tasks.
  const operations = a2aOperations.filter(({ name }) => dialect.version === '1.0' || name !== 'ListTasks')
  const clients = new Map<Who, Promise<Client>>()

  /** `ok` and the answer, or the refusal's message. */
  async function callAs(row: Operation, who: Who, planted: PlantedTask): Promise<string> {
    const known = clients.get(who) ?? connect(world.gateway, desk, world.keyOf(who) ?? '', dialect)
    clients.set(who, known)
    try {
      return `ok ${JSON.stringify(await a2aCalls[row.name as keyof typeof a2aCalls](await known, planted, world))}`
    } catch (error) {
      return String((error as Error).message)
    }
  }

  test.each(operations)('$name changes nothing and shows nothing where it is refused', async (row) => {
    const planted = await plantTask(world)
    const before = await world.heads()
    for (const who of everybody.filter((one) => expected(row, one) !== 'ok')) {
      const answer = await callAs(row, who, planted)
      expect(answer, who).toMatch(words[expected(row, who) as Exclude<Expected, 'ok'>])
      expect(answer, who).not.toMatch(/CANARY/)
    }
    expect(await world.changesSince(before)).toEqual([])
  })

  test.each(operations)('$name is done for whom the table lets do it', async (row) => {
    for (const who of everybody.filter((one) => expected(row, one) === 'ok')) {
      const answer = await callAs(row, who, await plantTask(world))
      expect(answer, who).toMatch(/^ok/)
      if (who === 'mike' || who === 'gina') expect(answer, who).not.toContain(secret)
    }
  })
})

describe('a scope that is missing', () => {
  test('is 403 over HTTP, before parameters are checked', async () => {
    const wire = wireTo(world.gateway, desk, world.keyOf('donna, read only'))
    const rpc = await wire.rpc('SendMessage', {})
    expect([rpc.status, rpc.body.error.data[0].reason]).toEqual([403, 'FORBIDDEN'])
    const rest = await wire.rest('POST', '/message:send', {})
    expect([rest.status, rest.body.error.status]).toEqual([403, 'PERMISSION_DENIED'])
    const legacy = await wire.rest('POST', '/v1/message:send', {}, { 'A2A-Version': '0.3' })
    expect([legacy.status, legacy.body.code]).toEqual([403, -32603])
    const tenant = await wire.rest('POST', '/any/message:send', {})
    expect(tenant.status).toBe(404)
  })

  test.each([
    ['manage', ['send']],
    ['read', ['send', 'manage']],
  ])(
    'a push config that comes with a message needs `%s`; without it the message is not sent',
    async (lacks, scopes) => {
      const { apiKey } = await world.asOwner('POST', '/v1/agents/donna/keys', { scopes })
      const before = await world.heads()
      const config = { taskPushNotificationConfig: { id: 'c', url: world.url } }
      for (const dialect of dialects) {
        const client = await connect(world.gateway, desk, String(apiKey), dialect)
        const sent = client.sendMessage(saying('hello', {}, { returnImmediately: true, ...config }))
        await expect(sent, `${dialect.version} ${dialect.binding}`).rejects.toThrow(
          `CreateTaskPushNotificationConfig needs the scope "${lacks}"`,
        )
      }
      expect(await world.changesSince(before)).toEqual([])
      const all = wireTo(world.gateway, desk, world.keyOf('donna'))
      expect((await all.rpc('SendMessage', sending({}, config))).body.result.task.id).toBeTruthy()
    },
  )
})
