import * as limits from '../limits.ts'
import * as kind from './kinds.ts'
import { listed, setting } from './setting.ts'

/**
 * Every setting, in the shape of the configuration. `config.ts` has the rules between settings, and the checks that need a library. One
 * setting is one line, however long.
 */
export const settings = {
  http: {
    host: setting('ROUSE_HOST', kind.text(), '127.0.0.1', { flag: '<address>', what: 'the address to listen on' }),
    port: setting('ROUSE_PORT', kind.port, 4520, { flag: '<port>', what: 'the HTTP port; 0 = any free one, printed' }),
    publicUrl: setting('ROUSE_PUBLIC_URL', kind.httpUrl, undefined, { flag: '<url>', shown: 'the listening address', what: 'the address that agent cards advertise; needed where `ROUSE_HOST` is every address (`0.0.0.0`, `::`)' }),
  },
  grpc: {
    /** Undefined: gRPC is off. */
    port: setting('ROUSE_GRPC_PORT', kind.orOff(kind.port), 4521, { flag: '<port>', what: 'the gRPC port, on the same host; 0 = any free one, printed; `off` = none' }),
    publicTarget: setting('ROUSE_GRPC_PUBLIC_TARGET', kind.target, undefined, { flag: '<target>', shown: 'the public host and the gRPC port', what: 'the `host:port` that agent cards advertise for gRPC' }),
  },
  tls: {
    cert: setting('ROUSE_TLS_CERT', kind.file, undefined, { flag: '<file>', shown: 'plain text', what: 'the PEM file of the certificate and its chain: HTTP and gRPC use TLS 1.2 or later; it is read again when it changes' }),
    key: setting('ROUSE_TLS_KEY', kind.file, undefined, { flag: '<file>', what: 'the PEM file of the key of the certificate; it is read again when it changes' }),
    clientCa: setting('ROUSE_TLS_CLIENT_CA', kind.file, undefined, { flag: '<file>', what: 'the PEM file of CAs: clients must present a certificate of one of them; health checks need none' }),
  },
  /** Wrong keys from one address within a minute. 0: no limit. */
  wrongKeysMax: setting('ROUSE_WRONG_KEYS_PER_MINUTE', kind.limit(1_000_000), limits.gatewayLimits.wrongKeys.max, { what: 'wrong keys of one address that are answered 401; more are answered 429; 0 = no limit' }),
  /** 0: no limit. */
  connections: {
    max: setting('ROUSE_CONNECTIONS', kind.limit(1_000_000), limits.connectionLimits.connections.max, { what: 'connections to each port; 0 = no limit' }),
    perAddress: setting('ROUSE_CONNECTIONS_PER_ADDRESS', kind.limit(1_000_000), limits.connectionLimits.connectionsPerAddress.max, {
      shown: `\`${limits.connectionLimits.connectionsPerAddress.max}\`; no limit on loopback, or behind a proxy`,
      what: 'connections of one address (an IPv6 /64 is one), both ports together; 0 = no limit',
    }),
  },
  dataDir: setting('ROUSE_DATA_DIR', kind.text(), '.rouse', { flag: '<dir>', shown: '`./.rouse`', what: 'the directory of the store and the generated keys (mode 0600)' }),
  /** The PostgreSQL store, which several gateways can share. Undefined: the embedded store in the data directory. */
  databaseUrl: setting('ROUSE_DATABASE_URL', kind.postgresUrl, undefined, { isSecret: true, flag: '<url>', shown: 'the embedded store in the data directory', what: 'PostgreSQL 15 or later in UTF-8: a store that several gateways can share' }),
  /** The Redis server of the bus between gateways. Undefined: PostgreSQL's NOTIFY. */
  busUrl: setting('ROUSE_BUS_URL', kind.redisUrl, undefined, { isSecret: true, flag: '<url>', shown: "PostgreSQL's NOTIFY", what: 'Redis, through which the messages between the gateways of one PostgreSQL go' }),
  /** The newest first; every one is accepted. Configured keys win over those in the data directory. */
  adminKeys: setting('ROUSE_ADMIN_KEY', kind.bearerKeys, undefined, { isSecret: true, shown: 'made at the first start', what: "the operator's bearer key; several, newest first, to rotate" }),
  jwtIssuers: setting('ROUSE_JWT_ISSUERS', kind.text('JSON, or the path of a JSON file'), undefined, { flag: '<issuers>', what: '[issuers](keys.md) whose tokens are accepted beside keys' }),
  encryptionKeys: setting('ROUSE_ENCRYPTION_KEY', kind.encryptionKeys, undefined, { isSecret: true, shown: 'made at the first start', what: 'the key of the secrets in the store; several, newest first, to rotate' }),
  webhooks: {
    allow: setting('ROUSE_WEBHOOK_ALLOW', kind.networks, 'none', { flag: '<cidrs>', shown: 'loopback, while `ROUSE_HOST` is loopback and `ROUSE_PUBLIC_URL` is unset or loopback', what: 'networks that webhooks may reach in addition to public addresses; `none` = none, not even loopback' }),
    /** The URL of the proxy for webhooks to public addresses. */
    proxy: setting('ROUSE_WEBHOOK_PROXY', kind.proxyUrl, undefined, { isSecret: true, what: 'a proxy, with user and password if it wants them: webhooks and push notifications to public addresses go through it (CONNECT)' }),
    /** Each an address or `address:port`. Undefined: the name servers of the machine. */
    nameServers: setting('ROUSE_NAME_SERVERS', kind.nameServers, undefined, { shown: "the machine's own", what: 'name servers that resolve the hosts of webhooks' }),
    timeoutMs: setting('ROUSE_WEBHOOK_TIMEOUT', kind.seconds(1, 30), 10, { what: 'seconds for one attempt: connecting, sending, the status of the answer; the name look-up before it has 5 s' }),
  },
  a2a: {
    blockingTimeoutMs: setting('ROUSE_BLOCKING_TIMEOUT', kind.seconds(0, 86_400), 55, { flag: '<seconds>', what: 'seconds that a blocking `SendMessage` waits' }),
  },
  /** The largest body of a request, in bytes. */
  bodyMax: setting('ROUSE_BODY_MAX', kind.number(64 * limits.KiB, limits.bodyCeiling), limits.sizeLimits.body.max, { what: 'the most bytes of the body of a request, on every front. Larger bodies take more memory and more time of the gateway' }),
  sessions: {
    timeoutMs: setting('ROUSE_SESSION_TIMEOUT', kind.seconds(30, 86_400), 300, { flag: '<seconds>', what: 'seconds that a session may be silent' }),
  },
  /** 0: kept for ever. */
  retention: {
    eventsMs: setting('ROUSE_RETENTION_DAYS', kind.days, 30, { what: 'days that the events of the log are kept; 0 = for ever' }),
    deliveriesMs: setting('ROUSE_DELIVERY_RETENTION_DAYS', kind.days, 30, { what: 'days that the records of deliveries are kept; 0 = for ever' }),
    messagesMs: setting('ROUSE_MESSAGE_RETENTION', kind.days, 30, { what: 'days that delivered mail is kept; undelivered mail is kept for ever; 0 = all mail is' }),
    auditMs: setting('ROUSE_AUDIT_RETENTION_DAYS', kind.days, 365, { what: 'days that the audit and closed approvals are kept; 0 = for ever' }),
  },
  /** The directory of delivered mail that is older than its retention. Undefined: it is deleted for good. */
  mailArchive: setting('ROUSE_MESSAGE_ARCHIVE', kind.orOff(kind.text('a path')), undefined, { shown: '`archive` in the data directory', what: 'the directory of delivered mail that is older than `ROUSE_MESSAGE_RETENTION`; `off`: it is deleted for good' }),
  trustedProxies: setting('ROUSE_TRUSTED_PROXIES', kind.networks, 'none', { what: 'proxies whose `X-Forwarded-For` names the client in the audit' }),
  /** 0: no limit. */
  mail: {
    perMinute: setting('ROUSE_MESSAGES_PER_MINUTE', kind.limit(60_000), limits.projectLimits.messagesPerMinute.max, { what: `mail and A2A messages of one agent; 0 = no limit; a project may have its own. All agents of a project together may send ${limits.projectFactor} times as many` }),
    stormTurns: setting('ROUSE_STORM_TURNS', kind.limit(100_000), limits.gatewayLimits.stormTurns.max, { what: 'turns that two agents may take in writing to each other within ten minutes, and broadcasts of one agent; 0 = no limit' }),
    stormMessages: setting('ROUSE_STORM_MESSAGES', kind.limit(10_000_000), limits.gatewayLimits.stormMessages.max, { what: 'direct mail and A2A messages that one agent may receive within ten minutes, then as many again, but no two in a row from one sender; 0 = no limit' }),
  },
  mcpEvents: {
    isOn: setting('ROUSE_MCP_EVENTS', kind.isWord('on', 'on', 'off'), 'on', { what: '`on`: clients of MCP may subscribe to [events](mcp-events.md)' }),
    codes: setting('ROUSE_MCP_EVENTS_CODES', kind.oneOf('draft', 'sep'), 'draft', { what: 'the numbers of their errors: `draft` = those that the clients of today know, `sep` = those of the final text' }),
    /** Clients of MCP on this machine may give a URL with `http`. */
    allowsHttp: setting('ROUSE_MCP_EVENTS_ALLOW_HTTP', kind.isWord('loopback', 'no', 'loopback'), 'no', { what: '`loopback`: clients of MCP on this machine may give a URL with `http`' }),
  },
  metrics: setting('ROUSE_METRICS', kind.oneOf('open', 'key', 'off'), 'key', { what: 'the readers of [`/metrics`](metrics.md): `key` = operators with a key, `open` = everybody who reaches the port, `off` = nobody' }),
  /** The OTLP collector that spans are sent to. Undefined: there are none. */
  otlpEndpoint: setting('ROUSE_OTLP_ENDPOINT', kind.orOff(kind.httpUrl), undefined, {
    shown: '`OTEL_EXPORTER_OTLP_ENDPOINT`, or none: no spans',
    what: 'the address of a collector of OpenTelemetry (OTLP over HTTP), e.g. `http://127.0.0.1:4318`: [traces](metrics.md#traces) are sent there; `off` = no spans. Of the standard variables the gateway heeds `OTEL_SDK_DISABLED`, `OTEL_TRACES_EXPORTER`, `OTEL_EXPORTER_OTLP_PROTOCOL` and `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`; one that is meant for others never keeps it from its start',
  }),
  logLevel: setting('ROUSE_LOG_LEVEL', kind.oneOf('silent', 'error', 'warn', 'info', 'debug'), 'info', { flag: '<level>', what: 'the least level of the lines on standard error; they are JSON where it is no terminal' }),
}

/** Every setting, in the order of the documentation. */
export const settingList = listed(settings)
