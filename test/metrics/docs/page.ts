import { fileURLToPath } from 'node:url'
import { gauges } from '../../../src/gateway/metrics-page.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'

export const pagePath = fileURLToPath(new URL('../../../docs/metrics.md', import.meta.url))

interface Row {
  readonly name: string
  readonly kind: string
  readonly labels: readonly string[]
  readonly help: string
}

/** Every series of Rouse itself. */
export const rows: readonly Row[] = [
  ...Object.entries(new Metrics().series).map(([name, { kind, labels, help }]) => ({ name, kind, labels, help })),
  ...Object.entries(gauges).map(([name, { help, labels }]) => ({ name, kind: 'gauge', labels, help })),
]

/** docs/metrics.md, as the code has it. */
export function renderPage(): string {
  return `${intro}
| series | kind | labels | what |
| --- | --- | --- | --- |
${rows.map(({ name, kind, labels, help }) => `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`).join('\n')}
${rest}`
}

const intro = `# Metrics

<!-- Made from src/metrics and src/gateway/metrics-page.ts by \`npm run metrics:docs\`. A test fails when the two differ. -->

\`GET /metrics\` returns the figures of one gateway in the text format of Prometheus. It needs the key of an operator; the role \`viewer\` is enough:

    rouse operator key add --role viewer --label prometheus --save-key rouse.key

\`\`\`yaml
scrape_configs:
  - job_name: rouse
    authorization: { credentials_file: /etc/prometheus/rouse.key }
    static_configs: [{ targets: ['127.0.0.1:4520'] }]
\`\`\`

With \`ROUSE_METRICS=open\` the route needs no key: use that only if nothing but the scraper reaches the port. With \`ROUSE_METRICS=off\` the route does
not exist. Scrape every gateway. Counting costs the gateway a few additions for each message. The gateway loads the library that reads the figures of
the process with the first scrape, and counts the store at most once a second. A gateway that refuses requests because it has too much work still
answers ten scrapes a minute of each key.

[deploy/prometheus/alerts.yml](../deploy/prometheus/alerts.yml) has alert rules, [deploy/grafana/rouse.json](../deploy/grafana/rouse.json) has a
dashboard, and [operations.md](operations/watch.md) says what to do.

## The series

Counters and histograms are those of one gateway since its start: add them up over the gateways. The gauges "of the store" are the same on every
gateway of a store: take one of them (\`max by (status, target) (…)\`). No label contains the name of an agent or a project, an id, or text of a peer.
`

const rest = `
- \`surface\`: \`a2a\` for a message over A2A, \`mail\` for mail.
- \`target\`: the harness target of a subscription; \`push\` for the push notification config of an A2A task.
- \`form\`: \`single\` for a wake with one event, \`digest\` for one with several. The time of a digest includes the window of its subscription.
- \`outcome\`: \`delivered\`; the class of the status (\`4xx\`); the reason for no answer (\`timeout\`, \`connect\`, \`reset\`, \`tls\`, \`dns\`, …); or the
  last step that the reader of a stream has reported. Each attempt counts once, also a retry or a repeat by hand.
- \`code\`, \`limit\`: the problem and the name of the limit, as in [limits.md](limits.md).
- \`mode\`, \`change\` (recovery): \`nudge\` or \`restart\`; \`ordered\`, \`cleared\`, \`abandoned\`, \`failed\`, \`refused\` or \`withdrawn\`.
- \`gate\`, \`state\`: \`nudges\` or \`restarts\`; \`enabled\`, \`disabled\` or \`tripped\`.

The page also has the figures of \`prom-client\` about the process: \`process_*\` (processor time, memory, open files) and \`nodejs_*\` (the delay of the
event loop, the heap, garbage collections).

## Traces

A call may be part of a trace of [W3C Trace Context](https://www.w3.org/TR/trace-context/). A2A over HTTP and the REST API read the header
\`traceparent\`, and A2A over gRPC reads the metadata of that name. The gateway keeps it with the events of the call, and sends it with their wakes: as a
header of webhooks and push notifications, and as the field \`traceparent\` of wakes on a stream. So the spans of the receiver are children of the
sender's. A digest has a \`traceparent\` if all of its events have the same.

\`rouse listen --exec\` sets \`TRACEPARENT\` for its command, and each \`rouse\` command sends the \`TRACEPARENT\` of its environment. So a task that agents
delegate to each other is one trace.

**Spans of the gateway.** With \`ROUSE_OTLP_ENDPOINT\`, or \`OTEL_EXPORTER_OTLP_ENDPOINT\`, the gateway sends spans to a collector of OpenTelemetry (OTLP
over HTTP): \`SendMessage\` and each call of the REST API that changes something, from the call to its answer, with \`a2a.task.id\` and
\`gen_ai.conversation.id\`; and each wake (\`wake/sent_to_me\`, …), from its first attempt to its outcome. The header that a receiver gets then names the
span of the wake. A digest of several traces begins a new trace. The libraries for this are optional dependencies, and are loaded only with this
setting. No call and no wake waits for spans: spans that cannot be sent are lost, and the log says so (\`traces.lost\`). A span has ids, but no handles
and no texts.

A span of every call costs a gateway under full load about a sixth of its throughput. The variables of OpenTelemetry choose fewer of them:
\`OTEL_TRACES_SAMPLER=parentbased_traceidratio\` with \`OTEL_TRACES_SAMPLER_ARG=0.1\` writes a tenth of the traces that begin here, and those of callers
that are sampled. \`OTEL_SDK_DISABLED=true\` and \`OTEL_TRACES_EXPORTER=none\` turn spans off. \`OTEL_EXPORTER_OTLP_ENDPOINT\` is for every program, so
one that this gateway cannot use is ignored: no HTTP address, an exporter other than \`otlp\`, or the protocol \`grpc\`.

A peer writes the header, and no signature covers it. The gateway ignores a header that is not well formed, and does not pass on \`tracestate\` and
\`baggage\`.
`
