import { once } from '../lib/once.ts'
import type { Series } from './series.ts'

/** The text of a scrape, and its type. */
export interface Exposition {
  readonly type: string
  readonly text: string
}

/** Writes series by name in the text format of Prometheus 0.0.4, after the figures of Node.js */
export async function writeExposition(series: Readonly<Record<string, Series>>): Promise<Exposition> {
  const ofProcess = await openProcessFigures()
  const texts = Object.entries(series).map(([name, one]) => {
    return [`# HELP ${name} ${one.help}`, `# TYPE ${name} ${one.kind}`, ...one.lines(name)].join('\n')
  })
  const text = [(await ofProcess.metrics()).trimEnd(), ...texts].join('\n\n')
  return { type: ofProcess.contentType, text: `${text}\n` }
}

/**
 * Memory, the processor, the delay of the event loop and garbage collections, watched from the first scrape on. Few gateways are scraped, so
 * the others do without the library, which takes 2.5 MB and a tenth of a second.
 */
const openProcessFigures = once(async () => {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
})
