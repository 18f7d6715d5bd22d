import type { Metric as PromMetric, Registry } from 'prom-client'
import { once } from '../lib/once.ts'
import type { Sample } from './counter.ts'
import type { Distribution } from './histogram.ts'
import type { Gauge, Metrics, Series } from './metrics.ts'

/** The text of a scrape, and its type. */
export interface Exposition {
  readonly type: string
  readonly text: string
}

/**
 * Writes metrics as Prometheus reads them. Loads its library with the first call: few gateways are scraped, and what it adds of the
 * process (memory, the processor, the delay of the event loop, garbage collections) is watched from then on.
 */
export class Expositions {
  readonly #metrics: Metrics
  readonly #registry = once(() => this.#open())

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  async write(gauges: readonly Gauge[]): Promise<Exposition> {
    const registry = await this.#registry()
    for (const gauge of gauges) {
      registry.removeSingleMetric(gauge.name)
      registry.registerMetric(gaugeMetric(gauge))
    }
    return { type: registry.contentType, text: await registry.metrics() }
  }

  async #open(): Promise<Registry> {
    const { Registry, collectDefaultMetrics } = await import('prom-client')
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const [name, series] of Object.entries(this.#metrics.series))
      registry.registerMetric(seriesMetric(name, series))
    return registry
  }
}

/** A metric as a registry reads it: its values are asked for at each scrape. */
interface Read {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly values: () => readonly Value[]
}

interface Value {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

function metricOf({ name, help, type, values }: Read): PromMetric {
  const get = async () => ({ name, help, type, aggregator: 'sum', values: values() })
  return { name, get } as unknown as PromMetric
}

function gaugeMetric({ name, help, labels, samples }: Gauge): PromMetric {
  return metricOf({ name, help, type: 'gauge', values: () => samples.map((sample) => sampled(labels, sample)) })
}

function seriesMetric(name: string, { help, values }: Series): PromMetric {
  if (values.kind === 'counter') {
    const read = () => values.samples().map((sample) => sampled(values.labels, sample))
    return metricOf({ name, help, type: 'counter', values: read })
  }
  const read = () => values.distributions().flatMap((one) => distributionOf(name, values.labels, one))
  return metricOf({ name, help, type: 'histogram', values: read })
}

const sampled = (names: readonly string[], { words, value }: Sample): Value => ({
  labels: labelled(names, words),
  value,
})

function distributionOf(name: string, names: readonly string[], { words, buckets, count, sum }: Distribution): Value[] {
  const labels = labelled(names, words)
  const below = (le: number | string, value: number) => ({
    labels: { ...labels, le },
    value,
    metricName: `${name}_bucket`,
  })
  return [
    ...buckets.map(([bound, value]) => below(bound, value)),
    below('+Inf', count),
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}

function labelled(names: readonly string[], words: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, words[at] ?? '']))
}
