import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownNames } from '../../src/fronts/http/edge.ts'
import { isOneLine } from '../../src/lib/words.ts'
import { connectionLimits } from '../../src/limits.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway
let proxied: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
  proxied = await startGateway({ env: { ROUSE_PUBLIC_URL: 'https://rouse.example/gateway' } })
  await gateway.addAgent('donna')
})

afterAll(() => Promise.all([gateway, proxied].map((each) => each[Symbol.asyncDispose]())))

/** The whole answer to a request with these header lines. */
async function ask(to: TestGateway, lines: readonly string[], target = '/healthz', method = 'GET'): Promise<string> {
  using connection = await connectRaw(to.url)
  connection.socket.write(`${[`${method} ${target} HTTP/1.1`, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  await connection.closed
  return connection.text()
}

describe('a page that has its own name point to this machine', () => {
  test.each([
    'evil.example',
    'evil.example:4520',
    '10.0.0.1',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '[::2]',
  ])('gets nothing under the name %s, on any route', async (host) => {
    for (const target of ['/healthz', '/v1/agents', '/agents/donna/.well-known/agent-card.json', '/nowhere']) {
      const answer = await ask(gateway, [`Host: ${host}`, `Authorization: Bearer ${gateway.adminKey}`], target)
      expect(answer).toMatch(/^HTTP\/1.1 421 /)
      expect(answer).toContain('"code":"misdirected-request"')
      expect(answer).toContain('ROUSE_PUBLIC_URL')
      expect(answer).not.toContain('donna"')
    }
  })

  test('cannot hide the name with another one in the request target', async () => {
    expect(await ask(gateway, ['Host: evil.example'], 'http://localhost/healthz')).toMatch(/^HTTP\/1.1 421 /)
  })

  test.each(['localhost', 'LOCALHOST:4520', 'rouse.localhost', '127.0.0.1', '127.0.0.2:1', '[::1]:4520'])(
    'may use the name %s',
    async (host) => expect(await ask(gateway, [`Host: ${host}`])).toMatch(/^HTTP\/1.1 200 /),
  )

  test('nor under the name of the public URL, which a proxy passes on', async () => {
    expect(await ask(proxied, ['Host: rouse.example'])).toMatch(/^HTTP\/1.1 200 /)
    expect(await ask(proxied, ['Host: evil.example'])).toMatch(/^HTTP\/1.1 421 /)
  })

  test('a request with two Host lines has none: a proxy may read the other one', async () => {
    for (const lines of [
      ['Host: localhost', 'Host: evil.example'],
      ['Host: localhost', 'host: localhost'],
    ]) {
      const answer = await ask(gateway, lines)
      expect(answer).toMatch(/^HTTP\/1.1 400 /)
      expect(answer).toContain('Host: a request has one such line, not 2.')
    }
  })

  test('beyond loopback any name is accepted: a page can do no more than any client', () => {
    expect(ownNames('0.0.0.0', 'https://rouse.example')).toBeUndefined()
    expect(ownNames('::1', 'http://[fd00::1]/')).toEqual(new Set(['::1', 'fd00::1']))
  })
})

describe('a refused name is in the audit', () => {
  interface Row {
    readonly count: number
    readonly target: string
  }
  const countOf = (rows: Row[]) => rows.reduce((sum, { count }) => sum + count, 0)
  const recorded = (of: TestGateway, count: number) =>
    until(
      async (): Promise<Row[]> =>
        (await of.call('GET', '/v1/audit?project=*&outcome=misdirected-request&limit=500')).body.records,
      (rows) => countOf(rows) >= count,
    )

  test('with where it came from, and without a caller; like attempts of a minute are one record', async () => {
    await using fresh = await startGateway()
    const key = `Authorization: Bearer ${fresh.adminKey}`
    for (let n = 0; n < 200; n++) await ask(fresh, [`Host: page${n}.example`, key], `/v1/agents/${n}`)
    await ask(fresh, ['Host: page.example', 'Upgrade: websocket', 'Connection: Upgrade'], '/v1/wake-stream')
    const rows = await recorded(fresh, 201)
    expect(countOf(rows)).toBe(201)
    // A minute may have ended meanwhile.
    expect(rows.length).toBeLessThanOrEqual(2)
    for (const row of rows) {
      expect(row).toMatchObject({
        actor: '',
        callerId: null,
        keyId: null,
        project: null,
        address: '127.0.0.1',
        front: 'gateway',
        operation: 'http.request',
        target: expect.stringMatching(/^page\d*\.example$/),
        outcome: 'misdirected-request',
      })
    }
    expect(JSON.stringify(rows)).not.toContain(fresh.adminKey)
  })

  test('as one line of a bounded length', async () => {
    await using fresh = await startGateway()
    await ask(fresh, [`Host: \u009b31m${'x'.repeat(5_000)}`])
    const [row] = await recorded(fresh, 1)
    expect(row!.target).toContain('31mxxx')
    expect(row!.target.length).toBeLessThanOrEqual(200)
    expect(isOneLine(row!.target)).toBe(true)
  })

  test('a request with too many header lines is no attempt', async () => {
    await using fresh = await startGateway()
    const lines = Array.from({ length: 100 + 1 }, (_, n) => `X-${n}: 1`)
    expect(await ask(fresh, ['Host: evil.example', ...lines])).toMatch(/^HTTP\/1.1 431 /)
    await ask(fresh, ['Host: evil.example'])
    expect(countOf(await recorded(fresh, 1))).toBe(1)
    expect((await fresh.call('GET', '/v1/audit?project=*&outcome=headers-too-large')).body.records).toEqual([])
  })
})

describe('what browsers get', () => {
  const safe = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  }

  test.each([
    ['GET', '/healthz'],
    ['GET', '/.well-known/jwks.json'],
    ['GET', '/agents/donna/.well-known/agent-card.json'],
    ['GET', '/v1/tasks'],
    ['POST', '/agents/donna'],
    ['GET', '/agents/donna/tasks'],
    ['GET', '/nowhere'],
  ])('%s %s is not a page for any client', async (method, path) => {
    for (const key of [null, gateway.adminKey]) {
      const { headers } = await gateway.call(method, path, undefined, { key })
      expect(Object.fromEntries(headers)).toMatchObject(safe)
      expect(headers.get('strict-transport-security')).toBeNull()
    }
  })

  test('behind https, to come by https only', async () => {
    const { headers } = await proxied.call('GET', '/healthz')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  })

  test('no answer is shared with another origin', async () => {
    for (const [method, path] of [
      ['OPTIONS', '/v1/agents'],
      ['OPTIONS', '/agents/donna'],
      ['OPTIONS', '/agents/donna/message:send'],
      ['GET', '/agents/donna/.well-known/agent-card.json'],
      ['GET', '/v1/agents'],
    ] as const) {
      const headersSent = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
      for (const key of [null, gateway.adminKey]) {
        const { headers } = await gateway.call(method, path, undefined, { key, headers: headersSent })
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    }
  })
})

test('too many header lines, or too large ones, are refused', async () => {
  const lines = (count: number) => ['Host: localhost', ...Array.from({ length: count }, (_, i) => `X-${i}: 1`)]
  const { headerBytes } = connectionLimits
  const headerLines = { max: 100 }
  expect(await ask(gateway, lines(headerLines.max - 2))).toMatch(/^HTTP\/1.1 200 /)
  for (const count of [headerLines.max, headerLines.max * 3, 1_500]) {
    const answer = await ask(gateway, lines(count))
    expect(answer).toMatch(/^HTTP\/1.1 431 /)
    expect(answer).toContain(`more than ${headerLines.max} header lines`)
  }
  expect(await ask(gateway, ['Host: localhost', `X: ${'x'.repeat(headerBytes.max)}`])).toMatch(/^HTTP\/1.1 431 /)
})
