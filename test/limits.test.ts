import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { connectionLimits, gatewayLimits, projectLimits, sizeLimits } from '../src/limits.ts'
import { settingDefaults } from '../src/registry/recovery/gate.ts'
import { pagePath, renderPage } from './limits/page.ts'
import { restFields } from './limits/rest-fields.ts'
import { readTexts } from './recipes/find-recipes.ts'

test('docs/limits.md is the table of the code', () => {
  expect(readFileSync(pagePath, 'utf8'), 'Run `npm run limits:docs`.').toBe(renderPage())
})

test('every limit that the operator may set is a whole number above 0, with a description', () => {
  for (const [name, { max, what }] of Object.entries(projectLimits)) {
    expect([Number.isSafeInteger(max), max > 0, what.length > 10], name).toEqual([true, true, true])
  }
})

test('every field of every REST route has a limit', () => {
  expect(restFields().filter(({ bound }) => bound === undefined)).toEqual([])
})

test('a rate that a document or a comment names is a limit', () => {
  const limits = { ...sizeLimits, ...connectionLimits, ...gatewayLimits, ...projectLimits }
  const names = new Set(Object.keys({ ...limits, ...settingDefaults }))
  const named = readTexts().flatMap(({ place, text }) =>
    [...text.matchAll(/`(\w+(?:PerMinute|PerHour|PerDay|AtOnce|Queued))`/g)].map(([, name = '']) => ({ place, name })),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ name }) => !names.has(name))).toEqual([])
})
