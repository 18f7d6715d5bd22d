import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operatorTools } from '../../src/fronts/mcp/operator/table.ts'
import { restOperations } from '../../src/fronts/rest/table.ts'
import { callTool } from '../fronts/mcp/http/call-tool.ts'
import { expected } from './expected.ts'
import { operatorToolCases } from './operator-tool-requests.ts'
import { restCases } from './rest-requests.ts'
import { everybody, startWorld, strangers, type Who, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const operators: readonly Who[] = ['operator', 'manager', 'anna', 'manager elsewhere']
const all = '/mcp?tools=read,write'

test('every tool for operators has a call', () => {
  const called = [...new Set(operatorToolCases.map(({ tool }) => tool))]
  expect(called.sort()).toEqual(operatorTools.map(({ name }) => name).sort())
})

describe.each(operatorToolCases)('$tool ($row)', ({ tool, row, atHome, plant }) => {
  const operation = restOperations.find(({ name }) => name === row)!
  const outcome = (who: Who) => expected(operation, who, { ...restCases[row]!, ...(atHome ? { atHome } : {}) })

  test('is not there for the key of an agent, for a stranger, or for a viewer that asks for more than it may', async () => {
    const args = await plant(world)
    const before = await world.heads()
    for (const who of everybody.filter((one) => !operators.includes(one))) {
      const { status, text } = await callTool(world.gateway, world.keyOf(who), tool, args, all)
      expect(status, `${who}: ${text}`).toBe(strangers.includes(who) ? 401 : 403)
      expect(text, who).not.toMatch(/CANARY/)
    }
    expect(await world.changesSince(before)).toEqual([])
  })

  test('is there for a viewer that asks for what reads, if it reads', async () => {
    const answer = await callTool(world.gateway, world.keyOf('viewer'), tool, await plant(world), '/mcp?tools=read')
    expect(answer.isError, answer.text).toBe(!tool.endsWith('_read'))
    if (answer.isError) expect(answer.text).toContain('There is no tool')
  })

  test('does for an operator what the route does for it, and refuses what the route refuses', async () => {
    for (const who of operators) {
      const args = await plant(world)
      const before = await world.heads()
      const { isError, text } = await callTool(world.gateway, world.keyOf(who), tool, args, all)
      expect(isError, `${who}: ${text}`).toBe(outcome(who) !== 'ok')
      if (isError) expect(await world.changesSince(before), who).toEqual([])
      if (who === 'manager elsewhere') expect(text).not.toMatch(/CANARY/)
    }
  })
})
