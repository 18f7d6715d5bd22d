import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { writeExposition } from '../../src/metrics/exposition.ts'
import { Metrics } from '../../src/metrics/metrics.ts'
import * as own from '../../src/metrics/series.ts'
import { scraped } from './scraped.ts'

test('the text is what the library for Prometheus writes of the same observations', async () => {
  const registry = new Registry()
  const registers = [registry]
  const count = new Counter({ name: 'a_total', help: 'A', labelNames: ['x', 'y'], registers })
  const plain = new Histogram({ name: 'b', help: 'B', buckets: [0.5, 1, 10], registers })
  const labelled = new Histogram({ name: 'c', help: 'C', buckets: [1, 2], labelNames: ['x'], registers })
  const state = new Gauge({ name: 'd', help: 'D', labelNames: ['x'], registers })
  const ownCount = new own.Counter('A', ['x', 'y'])
  const ownPlain = new own.Histogram('B', [0.5, 1, 10])
  const ownLabelled = new own.Histogram('C', [1, 2], ['x'])
  const written = async (values: own.GaugeValue[]) => {
    const all = { a_total: ownCount, b: ownPlain, c: ownLabelled, d: own.gauge('D', ['x'], values) }
    const { text, type } = await writeExposition(all)
    expect(type).toBe(registry.contentType)
    return text.slice(text.indexOf('# HELP a_total'))
  }
  expect(await written([])).toBe(await registry.metrics())
  for (const [x, y] of [
    ['1', '"'],
    ['2', '\\'],
    ['1', '"'],
  ] as const) {
    count.inc({ x, y })
    ownCount.add(`${x} ${y}`)
  }
  for (const value of [0.5, 0.6, 1, 10, 10.1, 1e6]) {
    plain.observe(value)
    ownPlain.observe(value)
    labelled.observe({ x: `${value > 1}` }, value)
    ownLabelled.observe(value, `${value > 1}`)
  }
  state.set({ x: 'open' }, 2.5)
  expect(await written([[2.5, 'open']])).toBe(await registry.metrics())
})

test('what was counted before the first scrape is on it, after the figures of the process', async () => {
  const metrics = new Metrics()
  metrics.accepted('mail', 20)
  metrics.refused('rate-limited', undefined)
  const { text, value } = scraped((await writeExposition(metrics.series)).text)
  expect(text).toMatch(/^process_resident_memory_bytes \d+\n[\s\S]*\n\n# HELP rouse_accept_seconds A message/m)
  expect(value('rouse_accept_seconds_bucket', { le: '0.01', surface: 'mail' })).toBe(0)
  expect(value('rouse_accept_seconds_bucket', { le: '0.025', surface: 'mail' })).toBe(1)
  expect(value('rouse_accept_seconds_sum', { surface: 'mail' })).toBe(0.02)
  expect(value('rouse_refusals_total', { code: 'rate-limited', limit: 'rate-limited' })).toBe(1)
  expect(value('rouse_events_total', { type: 'wake.failed' })).toBe(0)
})
