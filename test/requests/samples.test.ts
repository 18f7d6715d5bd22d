import { expect, test } from 'vitest'
import { restTable } from '../../src/fronts/rest/table.ts'
import { fresh } from './plants.ts'
import { type AnySample, planned, withAllFields } from './sample.ts'
import { routes, samples } from './samples.ts'

test('every route has one sample, and every sample is that of a route', () => {
  const all: string[] = restTable.routes.map(({ route }) => route)
  const where = 'The samples are in test/requests/{agents,work,wakes,recovery}.ts.'
  expect(
    all.filter((route) => !Object.hasOwn(samples, route)),
    `These routes have none. ${where}`,
  ).toEqual([])
  expect(
    routes.filter((route) => !all.includes(route)),
    `These routes are gone. ${where}`,
  ).toEqual([])
})

test.each(routes)('%s takes its sample, with some of its fields and with all', (route) => {
  const ids = { later: fresh.later(), epoch: fresh.epoch() }
  for (const one of [samples[route] as AnySample, withAllFields(samples[route])]) {
    const { method, path, body } = planned(route, one, ids)
    const found = restTable.match(method, path.split('?')[0]!)!.route
    expect(found.route).toBe(route)
    expect(found.body?.safeParse(body ?? {}).error?.issues ?? []).toEqual([])
  }
})
