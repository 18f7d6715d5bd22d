import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../src/fronts/mcp/tools/table.ts'
import { restOperations } from '../../src/fronts/rest/table.ts'
import { callTool } from '../fronts/mcp/http/call-tool.ts'
import { type Expected, expected } from './expected.ts'
import { restCases } from './rest-requests.ts'
import { type ToolCase, toolCases } from './tool-requests.ts'
import { everybody, isAllOfDonna, secret, startWorld, type Who, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('every tool has a call', () => {
  const apart = ['send_task', 'wait_for_messages']
  expect([...new Set(toolCases.map(({ tool }) => tool)), ...apart].sort()).toEqual(tools.map(({ name }) => name).sort())
})

/** Returns the answer to a caller by the row: the tool has no access of its own. */
function expectedOf({ row, atHome }: ToolCase, who: Who): Expected {
  const operation = restOperations.find(({ name }) => name === row)!
  return expected(operation, who, { ...restCases[row]!, ...(atHome ? { atHome } : {}) })
}

describe.each(toolCases)('$tool ($row)', (one) => {
  test('is refused over MCP to whom the route refuses it, and shows and changes nothing', async () => {
    const args = await one.plant(world)
    const before = await world.heads()
    for (const who of everybody.filter((caller) => expectedOf(one, caller) !== 'ok')) {
      const answer = await callTool(world.gateway, world.keyOf(who), one.tool, args)
      const outcome = expectedOf(one, who)
      expect(answer.status, `${who}: ${answer.text}`).toBe(outcome === 'unauthenticated' ? 401 : 200)
      expect(answer.isError, `${who}: ${answer.text}`).toBe(true)
      expect(answer.text, who).not.toMatch(/CANARY/)
    }
    expect(await world.changesSince(before)).toEqual([])
  })

  test('is done over MCP for whom the route lets do it', async () => {
    for (const who of everybody.filter((caller) => expectedOf(one, caller) === 'ok')) {
      const answer = await callTool(world.gateway, world.keyOf(who), one.tool, await one.plant(world))
      expect(answer.isError, `${who}: ${answer.text}`).toBe(false)
      if (who === 'zoe' || who === 'manager elsewhere') expect(answer.text, who).not.toMatch(/CANARY/)
      if (who === 'mike') expect(answer.text, who).not.toContain(secret)
    }
  })
})

test('send_task is done for those who may send to the agent', async () => {
  const allowed = ['operator', 'manager', 'anna', 'donna', 'donna, by token', 'donna, send only', 'mike', 'gina']
  for (const who of everybody) {
    const answer = await callTool(world.gateway, world.keyOf(who), 'send_task', { to: 'default:@donna', text: 'hello' })
    expect(answer.isError, `${who}: ${answer.text}`).toBe(!allowed.includes(who))
    expect(answer.text, who).not.toMatch(/CANARY/)
  }
})

test('wait_for_messages is for keys that get mail', async () => {
  await world.asOwner('POST', '/v1/sessions', { surface: 'test' })
  // mike, gina and zoe are agents with all scopes: they may wait for their own.
  for (const who of everybody.filter((one) => !['mike', 'gina', 'zoe'].includes(one))) {
    const answer = await callTool(world.gateway, world.keyOf(who), 'wait_for_messages', { timeoutSeconds: 1 })
    expect(answer.isError, `${who}: ${answer.text}`).toBe(!isAllOfDonna(who))
    expect(answer.text).not.toContain(secret)
  }
})
