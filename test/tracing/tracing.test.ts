import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const caller = '00f067aa0ba902b7'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

/** A collector of OTLP over HTTP, which keeps the spans that it gets. */
async function startCollector(status = 200) {
  const spans: Span[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      if (req.url === '/v1/traces') {
        for (const { scopeSpans } of body.resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
      }
      res.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    spans,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

test('one trace leads from the call of a peer over the wake to its receiver', async () => {
  await using collector = await startCollector()
  await using gateway = await startGateway({ env: { ROUSE_OTLP_ENDPOINT: collector.url } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const headers = { traceparent: `00-${traceId}-${caller}-01` }
  const { id, contextId } = await gateway.send('donna', 'hello', { key: mike.key, headers })
  const [wake] = await receiver.waitFor(1)
  // The spans that are left are sent when it stops.
  await gateway.stop()
  const trace = collector.spans.filter((span) => span.traceId === traceId)
  const sent = trace.find(({ name }) => name === 'SendMessage')!
  const woken = trace.find(({ name }) => name === 'wake/sent_to_me')!
  expect([sent.parentSpanId, woken.parentSpanId]).toEqual([caller, sent.spanId])
  expect(wake!.headers.traceparent).toBe(`00-${traceId}-${woken.spanId}-01`)
  expect(sent.attributes).toContainEqual({ key: 'a2a.task.id', value: { stringValue: id } })
  expect(sent.attributes).toContainEqual({ key: 'gen_ai.conversation.id', value: { stringValue: contextId } })
  expect(woken.attributes).toContainEqual({ key: 'rouse.attempts', value: { intValue: 1 } })
})

test('a call without a trace begins one, and a refused call ends with its problem', async () => {
  await using collector = await startCollector()
  await using gateway = await startGateway({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` } })
  const mike = await gateway.addAgent('mike')
  await gateway.call('POST', '/v1/messages', { to: '@nobody', subject: 'hello' }, mike)
  await gateway.stop()
  const span = collector.spans.find(({ name }) => name === 'message.send')!
  expect(span.parentSpanId ?? '').toBe('')
  expect(span.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'agent-not-found' } })
})

test('a collector that refuses costs a line in the log, and no wake', async () => {
  await using collector = await startCollector(400)
  const { log, of } = logLines()
  await using gateway = await startGateway({ env: { ROUSE_OTLP_ENDPOINT: collector.url }, overrides: { log } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.send('donna', 'hello')
  await receiver.waitFor(1)
  await gateway.stop()
  await until(
    () => of('traces.lost'),
    ({ length }) => length > 0,
  )
})

test('ROUSE_OTLP_ENDPOINT=off wins over the address that other programs have', async () => {
  await using collector = await startCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ROUSE_OTLP_ENDPOINT: 'off' }
  await using gateway = await startGateway({ env })
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hello' }, donna)
  await gateway.stop()
  expect(collector.spans).toEqual([])
})

test.each<Record<string, string>>([
  { OTEL_SDK_DISABLED: 'true' },
  { OTEL_TRACES_EXPORTER: 'none' },
  { OTEL_TRACES_EXPORTER: 'console' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' },
])('no span is sent with %j and the address of other programs', async (env) => {
  await using collector = await startCollector()
  await using gateway = await startGateway({ env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  await gateway.addAgent('donna')
  await gateway.stop()
  expect(collector.spans).toEqual([])
})

test('variables of OpenTelemetry that are broken, or meant for others, do not keep a gateway from its start', async () => {
  const broken = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
    OTEL_EXPORTER_OTLP_HEADERS: '=,=;%%',
    OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'zip',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/no/such/file',
    OTEL_EXPORTER_OTLP_CLIENT_KEY: '/no/such/file',
    OTEL_TRACES_SAMPLER: 'all of them',
    OTEL_TRACES_SAMPLER_ARG: 'x',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'x',
    OTEL_BSP_SCHEDULE_DELAY: 'x',
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: 'x',
    OTEL_RESOURCE_ATTRIBUTES: '%zz',
    OTEL_PROPAGATORS: 'none such',
    OTEL_LOG_LEVEL: 'LOUD',
  }
  for (const [name, value] of Object.entries(broken)) vi.stubEnv(name, value)
  try {
    await using plain = await startGateway({ env: broken })
    expect((await plain.call('GET', '/readyz')).status).toBe(200)
    await using collector = await startCollector()
    await using tracing = await startGateway({ env: { ...broken, ROUSE_OTLP_ENDPOINT: collector.url } })
    const donna = await tracing.addAgent('donna')
    await tracing.call('POST', '/v1/messages', { to: '@donna', subject: 'hello' }, donna)
    await tracing.stop()
    expect(collector.spans.map(({ name }) => name)).toContain('message.send')
  } finally {
    vi.unstubAllEnvs()
  }
})

test('the sampler that OpenTelemetry names in the environment chooses the calls that have spans', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_always_off')
  try {
    await using collector = await startCollector()
    await using gateway = await startGateway({ env: { ROUSE_OTLP_ENDPOINT: collector.url } })
    await gateway.addAgent('donna')
    await gateway.send('donna', 'not sampled')
    const { id } = await gateway.send('donna', 'hello', { headers: { traceparent: `00-${traceId}-${caller}-01` } })
    await gateway.stop()
    const sent = collector.spans.filter(({ name }) => name === 'SendMessage')
    expect(sent.map(({ attributes }) => attributes.find(({ key }) => key === 'a2a.task.id')?.value)).toEqual([
      { stringValue: id },
    ])
  } finally {
    vi.unstubAllEnvs()
  }
})
