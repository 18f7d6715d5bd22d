import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'

test('an empty environment is the default configuration', () => {
  expect(envToConfig({})).toEqual({
    http: { host: '127.0.0.1', port: 4520, publicUrl: undefined },
    grpc: { port: 4521, publicTarget: undefined },
    tls: undefined,
    connections: { max: 10_000, perAddress: 0 },
    bodyMax: 1024 * 1024,
    wrongKeysMax: 600,
    dataDir: '.rouse',
    adminKeys: undefined,
    encryptionKeys: undefined,
    jwtIssuers: [],
    webhooks: { allow: ['127.0.0.0/8', '::1/128'], timeoutMs: 10_000, nameServers: undefined, proxy: undefined },
    retention: {
      eventsMs: 30 * 86_400_000,
      deliveriesMs: 30 * 86_400_000,
      messagesMs: 30 * 86_400_000,
      auditMs: 365 * 86_400_000,
    },
    mailArchive: '.rouse/archive',
    trustedProxies: [],
    sessions: { timeoutMs: 300_000 },
    mail: { perMinute: 300, stormTurns: 60, stormMessages: 600 },
    a2a: { blockingTimeoutMs: 55_000 },
    mcpEvents: { isOn: true, codes: 'draft', allowsHttp: false },
    push: true,
    metrics: 'key',
    otlpEndpoint: undefined,
    logLevel: 'info',
  })
})

test('webhooks reach loopback by default only while the gateway itself listens there', () => {
  const allow = (env: Record<string, string>) => envToConfig(env).webhooks.allow
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
    expect(allow({ ROUSE_HOST: host })).toEqual(['127.0.0.0/8', '::1/128'])
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'gateway.example', '127.example.com']) {
    expect(allow({ ROUSE_HOST: host })).toEqual([])
  }
  expect(allow({ ROUSE_WEBHOOK_ALLOW: '10.0.0.0/8, 192.168.1.0/24 fd00::/8' })).toEqual([
    '10.0.0.0/8',
    '192.168.1.0/24',
    'fd00::/8',
  ])
  for (const none of ['none', ' None ']) expect(allow({ ROUSE_WEBHOOK_ALLOW: none })).toEqual([])
})

test('an address has a limit of connections, unless all come from this machine or from a proxy', () => {
  const perAddress = (env: Record<string, string>) => envToConfig(env).connections.perAddress
  const open = { ROUSE_HOST: '0.0.0.0' }
  const proxied = { ...open, ROUSE_PUBLIC_URL: 'https://rouse.example' }
  const files = { ROUSE_TLS_CERT: '/tls/cert.pem', ROUSE_TLS_KEY: '/tls/key.pem' }
  expect([perAddress({}), perAddress(open), perAddress(proxied)]).toEqual([0, 1000, 0])
  expect(perAddress({ ...proxied, ...files })).toBe(1000)
  expect(perAddress({ ROUSE_CONNECTIONS_PER_ADDRESS: '7' })).toBe(7)
})

test('TLS needs a certificate and its key', () => {
  const files = { ROUSE_TLS_CERT: '/tls/cert.pem', ROUSE_TLS_KEY: '/tls/key.pem' }
  expect(envToConfig(files).tls).toEqual({ cert: '/tls/cert.pem', key: '/tls/key.pem', clientCa: undefined })
  expect(envToConfig({ ...files, ROUSE_TLS_CLIENT_CA: '/tls/ca.pem' }).tls?.clientCa).toBe('/tls/ca.pem')
  for (const half of ['ROUSE_TLS_CERT', 'ROUSE_TLS_KEY']) {
    expect(messageOf({ [half]: 'a' })).toContain('ROUSE_TLS_CERT and ROUSE_TLS_KEY: give both files')
  }
  expect(messageOf({ ROUSE_TLS_CLIENT_CA: 'a' })).toContain('ROUSE_TLS_CLIENT_CA: it also needs ROUSE_TLS_CERT')
})

test('the content of a PEM file in the place of its path is refused, and not repeated', () => {
  const message = messageOf({
    ROUSE_TLS_CERT: '/tls/cert.pem',
    ROUSE_TLS_KEY: '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMB',
  })
  expect(message).toContain('ROUSE_TLS_KEY: give the path of the PEM file')
  expect(message).not.toContain('give both files')
  expect(message).not.toContain('MIGHAgEAMB')
})

test('with a public URL loopback must be allowed explicitly, wherever the gateway listens', () => {
  const allow = (env: Record<string, string>) => envToConfig(env).webhooks.allow
  for (const url of ['https://rouse.example', 'http://10.0.0.1:8080', 'http://127.rouse.example']) {
    expect(allow({ ROUSE_PUBLIC_URL: url })).toEqual([])
    expect(allow({ ROUSE_PUBLIC_URL: url, ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8' })).toEqual(['127.0.0.0/8'])
  }
  for (const url of ['http://localhost:4520', 'http://127.0.0.1:8080', 'http://[::1]:4520/']) {
    expect(allow({ ROUSE_PUBLIC_URL: url })).toEqual(['127.0.0.0/8', '::1/128'])
    expect(allow({ ROUSE_PUBLIC_URL: url, ROUSE_HOST: '0.0.0.0' })).toEqual([])
  }
})

test('days are milliseconds, whole ones, and 0 is for ever', () => {
  const { retention } = envToConfig({
    ROUSE_RETENTION_DAYS: '0',
    ROUSE_DELIVERY_RETENTION_DAYS: '30.1',
    ROUSE_MESSAGE_RETENTION: '1',
    ROUSE_AUDIT_RETENTION_DAYS: '2',
  })
  expect(retention).toEqual({
    eventsMs: 0,
    deliveriesMs: 2_600_640_000,
    messagesMs: 86_400_000,
    auditMs: 2 * 86_400_000,
  })
})

// S2-19
test('old mail is archived in the data directory, in another one, or nowhere', () => {
  expect(envToConfig({}).mailArchive).toBe('.rouse/archive')
  expect(envToConfig({ ROUSE_DATA_DIR: '/data' }).mailArchive).toBe('/data/archive')
  expect(envToConfig({ ROUSE_MESSAGE_ARCHIVE: '/mnt/mail' }).mailArchive).toBe('/mnt/mail')
  expect(envToConfig({ ROUSE_MESSAGE_ARCHIVE: 'Off' }).mailArchive).toBeUndefined()
})

test.each([
  ['ROUSE_PORT', '0 to 65535', ['-1', '65536', '4520.5', '1e400']],
  ['ROUSE_GRPC_PORT', '0 to 65535', ['-1', '65536', '4521.5', 'none']],
  ['ROUSE_WEBHOOK_TIMEOUT', '1 to 30', ['-1', '31', 'Infinity']],
  ['ROUSE_BLOCKING_TIMEOUT', '0 to 86400', ['-0.1', '1e9']],
  ['ROUSE_SESSION_TIMEOUT', '30 to 86400', ['-1', '29', '86401', 'never']],
  ['ROUSE_RETENTION_DAYS', '0 to 36500', ['-1', '1e21', 'ever']],
  ['ROUSE_DELIVERY_RETENTION_DAYS', '0 to 36500', ['-30', '36501']],
  ['ROUSE_AUDIT_RETENTION_DAYS', '0 to 36500', ['-1', 'never']],
  ['ROUSE_MESSAGE_RETENTION', '0 to 36500', ['-1', 'never']],
  ['ROUSE_MESSAGES_PER_MINUTE', '0 to 60000', ['-1', '60001', '0.5']],
  ['ROUSE_CONNECTIONS', '0 to 1000000', ['-1', 'many']],
  ['ROUSE_WRONG_KEYS_PER_MINUTE', '0 to 1000000', ['-1', 'many']],
  ['ROUSE_CONNECTIONS_PER_ADDRESS', '0 to 1000000', ['-1', '0.5']],
  ['ROUSE_STORM_TURNS', '0 to 100000', ['-1', 'off']],
])('%s outside of %s is refused with the range', (name, range, values) => {
  for (const value of values) expect(messageOf({ [name]: value })).toMatch(new RegExp(`${name}="${value}": .*${range}`))
})

test('gRPC has its own port, or is off; cards advertise a host and a port for it', () => {
  expect(envToConfig({ ROUSE_GRPC_PORT: '0', ROUSE_PORT: '0' }).grpc.port).toBe(0)
  for (const off of ['off', ' OFF ']) expect(envToConfig({ ROUSE_GRPC_PORT: off }).grpc.port).toBeUndefined()
  for (const publicTarget of ['rouse.example:443', '[::1]:4521']) {
    expect(envToConfig({ ROUSE_GRPC_PUBLIC_TARGET: publicTarget }).grpc).toEqual({ port: 4521, publicTarget })
  }
  expect(messageOf({ ROUSE_PORT: '4521' })).toMatch(/ROUSE_GRPC_PORT="4521": HTTP listens there/)
})

test('name servers are addresses, with or without a port', () => {
  const { webhooks } = envToConfig({ ROUSE_NAME_SERVERS: '10.0.0.2, [::1]:5353' })
  expect(webhooks.nameServers).toEqual(['10.0.0.2', '[::1]:5353'])
  expect(messageOf({ ROUSE_NAME_SERVERS: 'dns.example' })).toMatch(/ROUSE_NAME_SERVERS: give addresses such as/)
})

test('a proxy for webhooks is a URL of HTTP, and a wrong one is not repeated', () => {
  for (const proxy of ['http://proxy.example:3128', 'https://rouse:ge%2Fheim@proxy.example']) {
    expect(envToConfig({ ROUSE_WEBHOOK_PROXY: proxy }).webhooks.proxy).toBe(proxy)
  }
  const wrong = [
    'proxy.example:3128',
    'socks5://rouse:geheim@proxy.example',
    'http://u:ge%heim@p.example',
    'http://p/geheim',
  ]
  for (const proxy of wrong) {
    const message = messageOf({ ROUSE_WEBHOOK_PROXY: proxy })
    expect(message).toMatch(/ROUSE_WEBHOOK_PROXY: give the URL of an HTTP proxy/)
    expect(message).not.toContain('heim')
  }
})

test('none stands alone and cannot be combined with an address range', () => {
  expect(messageOf({ ROUSE_WEBHOOK_ALLOW: 'none 10.0.0.0/8' })).toContain('"none" is not an address range')
})

test('values are trimmed, and seconds become milliseconds', () => {
  const keys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const config = envToConfig({
    ROUSE_HOST: ' 0.0.0.0 ',
    ROUSE_PORT: '0',
    ROUSE_PUBLIC_URL: 'https://rouse.example/gateway//',
    ROUSE_DATA_DIR: '/var/lib/rouse',
    ROUSE_ADMIN_KEY: 'a-key-of-twenty-four-or-more the-one-that-was-before-it',
    ROUSE_ENCRYPTION_KEY: keys.join(','),
    ROUSE_BLOCKING_TIMEOUT: '0.5',
    ROUSE_LOG_LEVEL: 'info',
  })
  expect(config).toMatchObject({
    http: { host: '0.0.0.0', port: 0, publicUrl: 'https://rouse.example/gateway' },
    dataDir: '/var/lib/rouse',
    adminKeys: ['a-key-of-twenty-four-or-more', 'the-one-that-was-before-it'],
    encryptionKeys: keys,
    a2a: { blockingTimeoutMs: 500 },
    logLevel: 'info',
  })
})

test('empty values count as not set, and variables of clients are ignored', () => {
  const env = { ROUSE_PORT: '', ROUSE_ADMIN_KEY: ' ', ROUSE_URL: 'nonsense', ROUSE_API_KEY: 'x', ROUSE_ANYTHING: 'y' }
  expect(envToConfig(env)).toEqual(envToConfig({}))
})

test('all problems are reported together, each with its variable, and without secrets', () => {
  const env = {
    ROUSE_PORT: '70000',
    ROUSE_BLOCKING_TIMEOUT: 'soon',
    ROUSE_WEBHOOK_ALLOW: 'everything',
    ROUSE_WEBHOOK_TIMEOUT: '0',
    ROUSE_RETENTION_DAYS: '-1',
    ROUSE_DELIVERY_RETENTION_DAYS: 'long',
    ROUSE_TRUSTED_PROXIES: 'nginx',
    ROUSE_ENCRYPTION_KEY: 'c2VjcmV0',
    ROUSE_ADMIN_KEY: 'tooshort',
    ROUSE_PUBLIC_URL: 'ftp://rouse.example',
    ROUSE_METRICS: 'public',
    ROUSE_OTLP_ENDPOINT: 'collector',
    ROUSE_LOG_LEVEL: 'loud',
    ROUSE_DATABASE_URL: 'mysql://user:password@host/db',
    ROUSE_BUS_URL: 'amqp://user:password@host',
    ROUSE_JWT_ISSUERS: 'https://issuer.example',
  }
  const message = messageOf(env)
  for (const name of Object.keys(env)) expect(message).toContain(`  ${name}`)
  expect(message.split('\n')).toHaveLength(Object.keys(env).length + 1)
  for (const secret of ['c2VjcmV0', 'tooshort', 'password']) expect(message).not.toContain(secret)
})

test('a bus is for the gateways of one PostgreSQL', () => {
  expect(messageOf({ ROUSE_BUS_URL: 'redis://host' })).toContain('set ROUSE_DATABASE_URL too')
  const both = { ROUSE_BUS_URL: 'rediss://host', ROUSE_DATABASE_URL: 'postgres://host/rouse' }
  expect(envToConfig(both)).toMatchObject({ busUrl: both.ROUSE_BUS_URL, databaseUrl: both.ROUSE_DATABASE_URL })
})

test.each([
  ['ROUSE_PORT', '4520.5'],
  ['ROUSE_PORT', '-1'],
  ['ROUSE_PORT', 'http'],
  ['ROUSE_PUBLIC_URL', 'rouse.example'],
  ['ROUSE_GRPC_PUBLIC_TARGET', 'https://rouse.example:443'],
  ['ROUSE_GRPC_PUBLIC_TARGET', 'rouse.example'],
  ['ROUSE_DATABASE_URL', 'rouse.db'],
  ['ROUSE_DATABASE_URL', 'postgres:// /x y'],
  ['ROUSE_ENCRYPTION_KEY', randomBytes(31).toString('base64')],
])('%s=%s is refused', (name, value) => {
  expect(messageOf({ [name]: value })).toContain(name)
})

test('the store is the embedded one unless a PostgreSQL is named', () => {
  expect(envToConfig({}).databaseUrl).toBeUndefined()
  for (const url of ['postgres://rouse@127.0.0.1/rouse', 'postgresql://u:p@h:5433/d?sslmode=require']) {
    expect(envToConfig({ ROUSE_DATABASE_URL: ` ${url} ` }).databaseUrl).toBe(url)
  }
})

function messageOf(env: Record<string, string>): string {
  try {
    envToConfig(env)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The configuration was accepted.')
}
