import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { operatorTools } from '../../../../src/fronts/mcp/operator/table.ts'
import { tools } from '../../../../src/fronts/mcp/tools/table.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { pagePath, renderPage } from './page.ts'

test('docs/mcp.md is the table of tools of the code', () => {
  expect(readFileSync(pagePath, 'utf8'), 'Run `npm run mcp:docs`.').toBe(renderPage())
})

test('every argument of a tool is described, or speaks for itself', () => {
  const plain = ['action', 'priority', 'scope', 'state', 'status', 'to']
  const bare = [...tools, ...operatorTools].flatMap(({ name, input }) => {
    const { properties = {} } = z.toJSONSchema(input, { io: 'input' }) as { properties?: Record<string, JsonObject> }
    return Object.entries(properties).flatMap(([argument, { description }]) =>
      description === undefined && !plain.includes(argument) ? [`${name}.${argument}`] : [],
    )
  })
  expect(bare).toEqual([])
})
