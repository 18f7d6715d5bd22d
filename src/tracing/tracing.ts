import type { SpanContext } from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import { readTraceparent } from '../lib/trace-parent.ts'

/** The subject of a span. */
export interface SpanFacts {
  readonly name: string
  /** `server`: a call that the gateway answers. `client`: something that it sends. */
  readonly kind: 'server' | 'client'
  /** The trace that it continues; undefined: it begins one. */
  readonly parent: string | undefined
  readonly attributes: Readonly<Record<string, string | number | undefined>>
}

/** A span that has begun. */
export interface OpenSpan {
  /** For what continues it. */
  readonly traceparent: string
  note(attributes: SpanFacts['attributes']): void
  /** @param failure why it failed, in a word */
  end(failure?: string): void
}

/** Writes the spans of this gateway. Whoever has none writes none: then tracing costs nothing. */
export interface Tracing extends AsyncDisposable {
  begin(facts: SpanFacts): OpenSpan
}

interface TracingOptions {
  /** The address of a collector, to which `/v1/traces` is added. */
  readonly endpoint: string
  readonly version: string
  /** Called when spans could not be sent. */
  readonly onLost: (count: number, error: unknown) => void
}

/** How long a collector may take, with all retries. A gateway that stops waits for it. */
const timeoutMillis = 3_000

/** Begins to send spans to a collector (OTLP over HTTP). Loads its libraries here: few gateways trace. Rejects where they are not installed. */
export async function openTracing({ endpoint, version, onLost }: TracingOptions): Promise<Tracing> {
  const [api, sdk, resources, otlp] = await loadLibraries()
  const sender = new otlp.OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis })
  const exporter: SpanExporter = {
    export: (spans, done) =>
      sender.export([...spans], (result) => {
        if (result.error) onLost(spans.length, result.error)
        done(result)
      }),
    forceFlush: () => sender.forceFlush(),
    shutdown: () => sender.shutdown(),
  }
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': 'rouse', 'service.version': version }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer('rouse', version)
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT }
  return {
    begin({ name, kind, parent, attributes }) {
      const from = parent === undefined ? undefined : contextOf(parent)
      const context = from ? api.trace.setSpanContext(api.ROOT_CONTEXT, from) : api.ROOT_CONTEXT
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: { ...attributes } }, context)
      return {
        traceparent: headerOf(span.spanContext()),
        note: (noted) => void span.setAttributes({ ...noted }),
        end(failure) {
          if (failure !== undefined) {
            span.setStatus({ code: api.SpanStatusCode.ERROR })
            span.setAttribute('error.type', failure)
          }
          span.end()
        },
      }
    },
    // Sends what is left. It rejects where that is lost, which was reported to `onLost`.
    [Symbol.asyncDispose]: () => provider.shutdown().catch(() => {}),
  }
}

function loadLibraries() {
  return Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]).catch((cause: unknown) => {
    throw new Error(
      'The libraries of OpenTelemetry are not installed. Install Rouse without --omit=optional, or set ROUSE_OTLP_ENDPOINT=off.',
      { cause },
    )
  })
}

function contextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = readTraceparent(traceparent)?.split('-') ?? []
  if (traceId === undefined) return undefined
  return { traceId, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true }
}

function headerOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
