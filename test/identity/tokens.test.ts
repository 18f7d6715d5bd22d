import { createHmac, createPublicKey } from 'node:crypto'
import { type JWTPayload, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { atOnce, connect, dialects, saying, sendForTask } from '../a2a/connect.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTrusting } from './trusting.ts'

const ask = (gateway: TestGateway, key: string, path = '/v1/agents/donna/keys') =>
  gateway.call('GET', path, undefined, { key })
const statusOf = async (gateway: TestGateway, key: string) => (await ask(gateway, key)).status

test('a token of a trusted issuer speaks for the agent that its claim names, on every binding', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer)
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const token = await issuer.sign({ sub: 'donna' })
  expect((await ask(gateway, token)).body.keys).toHaveLength(1)
  expect(await statusOf(gateway, await issuer.sign({ sub: 'mike' }))).toBe(403)
  expect(await statusOf(gateway, await issuer.sign({ sub: 'nobody' }))).toBe(401)
  // They may be other users of the issuer; the last one becomes `k` where case is ignored.
  await gateway.addAgent('mark')
  for (const sub of ['Donna', 'DONNA', '@donna', ' donna', 'mar\u212a']) {
    expect(await statusOf(gateway, await issuer.sign({ sub })), sub).toBe(401)
  }
  for (const dialect of dialects) {
    const client = await connect(gateway, { handle: '@mike' }, token, dialect)
    await sendForTask(client, saying('Hi', {}, atOnce))
  }
  const sent = await gateway.call('GET', '/v1/tasks?role=originator', undefined, donna)
  expect(sent.body.tasks).toHaveLength(dialects.length)
})

// The attack: whatever a token can be forged with.
test('a token is refused without the right signature, issuer, audience, time and algorithm', async () => {
  await using issuer = await startIssuer()
  await using stranger = await startIssuer()
  const clock = new FakeClock()
  await using gateway = await startTrusting(issuer, {}, { overrides: { clock } })
  await gateway.addAgent('donna')
  const now = clock.now()
  const seconds = now / 1000
  const sign = (claims: JWTPayload, typ?: string) => issuer.sign(claims, { now, ...(typ === undefined ? {} : { typ }) })
  const good = await sign({})
  expect(await statusOf(gateway, good)).toBe(200)
  const [header, payload, signature] = good.split('.') as [string, string, string]
  const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload
  const jwk = ((await (await fetch(`${issuer.url}/keys`)).json()) as { keys: object[] }).keys[0]!
  const pem = createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const hmacHeader = json({ alg: 'HS256', kid: 'key-1' })
  const hmac = createHmac('sha256', pem).update(`${hmacHeader}.${payload}`).digest('base64url')
  const refused: Record<string, string> = {
    'another audience': await sign({ aud: 'elsewhere' }),
    'no audience': await sign({ aud: undefined } as never),
    'an issuer that nobody trusts': await stranger.sign({}, { now }),
    'an issuer’s name and a stranger’s key': await stranger.sign({ iss: issuer.url }, { now }),
    'no end': await sign({ exp: undefined } as never),
    'an end that has passed': await sign({ exp: seconds - 31 }),
    'a beginning to come': await sign({ nbf: seconds + 31 }),
    'an issue to come': await sign({ iat: seconds + 31 }),
    'a logout token': await sign({}, 'logout+jwt'),
    'a proof of a key': await sign({}, 'application/dpop+JWT'),
    'a security event': await sign({}, 'secevent+jwt'),
    'a key that its holder has to prove': await sign({ cnf: { jkt: 'x' } }),
    'an end that no clock reaches': await sign({ exp: 1e300 }),
    'an end after the longest life of a key': await sign({ exp: seconds + 11 * 366 * 86_400 }),
    'no subject': await sign({ sub: undefined } as never),
    'a changed payload': `${header}.${json({ ...claims, sub: 'mike' })}.${signature}`,
    'another key’s signature': `${json({ alg: 'ES256', kid: 'key-9' })}.${payload}.${signature}`,
    'the public key as a shared secret': `${hmacHeader}.${payload}.${hmac}`,
    'no signature': new UnsecuredJWT(claims).encode(),
    'an empty signature': `${header}.${payload}.`,
    'a critical extension': `${json({ alg: 'ES256', kid: 'key-1', crit: ['x'], x: 1 })}.${payload}.${signature}`,
    'nothing that is JSON': 'YWJj.YWJj.YWJj',
    'more than a token': `${good.slice(0, -1)}${'A'.repeat(9_000)}`,
  }
  const unknown = (await ask(gateway, 'rk_unknown')).body
  for (const [what, token] of Object.entries(refused)) {
    expect((await ask(gateway, token)).body, what).toEqual(unknown)
  }
  for (const [what, token] of Object.entries({
    'an end within the skew': await sign({ exp: seconds - 29 }),
    'a beginning within the skew': await sign({ nbf: seconds + 29 }),
    'an issue within the skew': await sign({ iat: seconds + 29 }),
    'an access token by its type': await sign({}, 'at+jwt'),
    'its full media type': await sign({}, 'application/at+jwt'),
    'another case': await sign({}, 'JWT'),
    'one audience of several': await sign({ aud: ['elsewhere', 'rouse'] }),
  })) {
    expect(await statusOf(gateway, token), what).toBe(200)
  }
})

test('roles, projects and scopes come from the claims that the entry names, within the limits of the entry', async () => {
  await using issuer = await startIssuer('RS256')
  const claims = { agent: 'agent', project: 'tenant', role: 'realm.roles', projects: 'tenants', scopes: 'scope' }
  await using gateway = await startTrusting(issuer, { claims, projects: ['default', 'red'] })
  for (const project of ['red', 'blue']) await gateway.call('POST', '/v1/projects', { project })
  await gateway.addAgent('donna')
  await gateway.addAgent('zoe', { project: 'red' })
  await gateway.addAgent('ann', { project: 'blue' })
  const agents = async (token: JWTPayload, project?: string) => {
    const key = await issuer.sign(token)
    const headers: Record<string, string> = project === undefined ? {} : { 'Rouse-Project': project }
    const { status, body } = await gateway.call('GET', '/v1/agents', undefined, { key, headers })
    return status === 200 ? body.agents.map(({ handle }: { handle: string }) => handle) : status
  }
  const manager = { realm: { roles: ['offline', 'manager'] } }
  expect(await agents({ agent: 'zoe', tenant: 'red', scope: 'read' })).toEqual(['@zoe'])
  expect(await agents({ agent: 'zoe', tenant: 'red' })).toBe(403)
  expect(await agents({ agent: 'ann', tenant: 'blue' })).toBe(401)
  expect(await agents({ agent: 'zoe' })).toBe(401)
  expect(await agents({ agent: ['zoe'], tenant: 'red' })).toBe(401)
  expect(await agents({ ...manager, tenants: ['red', 'blue'] })).toEqual(['@zoe'])
  expect(await agents({ ...manager, tenants: 'default red' }, 'red')).toEqual(['@zoe'])
  expect(await agents({ ...manager, tenants: ['red'] }, 'default')).toBe(403)
  expect(await agents({ ...manager, tenants: ['blue'] })).toBe(401)
  expect(await agents(manager)).toBe(401)
  // Only an issuer for every project makes admins.
  expect(await agents({ realm: { roles: ['admin'] }, tenants: ['red'] })).toBe(401)
  const mint = async (scope: string) => {
    const key = await issuer.sign({ agent: 'donna', tenant: 'default', scope })
    return (await gateway.call('POST', '/v1/agents/donna/keys', {}, { key })).status
  }
  expect(await mint('read send')).toBe(403)
  expect(await mint('read mint')).toBe(201)
})

test('an issuer for every project makes admins, and the agent keys that they make outlive the token', async () => {
  await using issuer = await startIssuer('EdDSA')
  await using gateway = await startTrusting(issuer, { claims: { role: 'role' }, projects: '*' })
  const key = await issuer.sign({ sub: 'ops@example', role: 'admin' })
  expect((await gateway.call('POST', '/v1/projects', { project: 'blue' }, { key })).status).toBe(201)
  const made = await gateway.call('POST', '/v1/agents', { handle: 'ann', project: 'blue' }, { key })
  expect(made.status).toBe(201)
  const options = { headers: { 'Rouse-Project': 'blue' } }
  const { keys } = (await gateway.call('GET', '/v1/agents/ann/keys', undefined, options)).body
  expect(keys).toMatchObject([
    { createdBy: '@operator', createdByKey: expect.stringMatching(/^jwt:/), expiresAt: null },
  ])
})

test('a key set is read once, and again when a token names a key that is not in it, but not at will', async () => {
  await using issuer = await startIssuer()
  const clock = new FakeClock()
  await using gateway = await startTrusting(issuer, {}, { overrides: { clock } })
  await gateway.addAgent('donna')
  const sign = () => issuer.sign({}, { now: clock.now() })
  const tokens = await Promise.all(Array.from({ length: 10 }, sign))
  await Promise.all(tokens.map(async (token) => expect(await statusOf(gateway, token)).toBe(200)))
  expect(issuer.keyReads).toBe(1)
  for (let i = 0; i < 10; i++) {
    const token = await issuer.sign({}, { kid: `made-up-${i}`, now: clock.now() })
    expect(await statusOf(gateway, token)).toBe(401)
  }
  expect(issuer.keyReads).toBe(1)
  await issuer.rotate()
  clock.advance(30_000)
  expect(await statusOf(gateway, await sign())).toBe(200)
  expect(issuer.keyReads).toBe(2)
  clock.advance(10 * 60_000)
  expect(await statusOf(gateway, await sign())).toBe(200)
  await until(
    () => issuer.keyReads,
    (reads) => reads === 3,
  )
})

// The attack: tokens that name an issuer which is down.
test('an issuer that does not answer delays only its own tokens', async () => {
  await using dead = await startIssuer()
  await using issuer = await startIssuer()
  const clock = new FakeClock()
  const issuers = [dead, issuer].map(({ url }) => ({ issuer: url, audience: 'rouse' }))
  const env = { ROUSE_JWT_ISSUERS: JSON.stringify(issuers) }
  await using gateway = await startGateway({ env, overrides: { clock } })
  await gateway.addAgent('donna')
  dead.become({ status: 500 })
  const now = clock.now()
  expect(await statusOf(gateway, await dead.sign({}, { now }))).toBe(401)
  dead.become({ silent: true })
  for (let i = 0; i < 20; i++) expect(await statusOf(gateway, await dead.sign({ jti: `${i}` }, { now }))).toBe(401)
  expect(await statusOf(gateway, await issuer.sign({}, { now }))).toBe(200)
  clock.advance(30_000)
  const waiting = statusOf(gateway, await dead.sign({}, { now }))
  expect(await statusOf(gateway, await issuer.sign({}, { now }))).toBe(200)
  expect(await waiting).toBe(401)
  dead.become({})
  clock.advance(30_000)
  expect(await statusOf(gateway, await dead.sign({}, { now: clock.now() }))).toBe(200)
  // Its keys are believed for a day while it is away.
  dead.become({ status: 503 })
  clock.advance(60 * 60_000)
  expect(await statusOf(gateway, await dead.sign({}, { now: clock.now() }))).toBe(200)
  clock.advance(24 * 60 * 60_000)
  expect(await statusOf(gateway, await dead.sign({}, { now: clock.now() }))).toBe(401)
})

// The attack: an issuer whose document points the gateway at an address of its network, or speaks for another issuer.
test('the document of an issuer is checked: its name, and the address of its keys', async () => {
  await using issuer = await startIssuer()
  await using inside = await startIssuer()
  for (const discovery of [
    { issuer: 'https://accounts.example' },
    { jwks_uri: 'http://169.254.169.254/latest' },
    { jwks_uri: `${inside.url}/keys` },
    { jwks_uri: 'file:///etc/passwd' },
    { jwks_uri: 7 },
    { padding: 'x'.repeat(300_000) },
  ]) {
    issuer.become({ discovery })
    await using gateway = await startTrusting(issuer)
    await gateway.addAgent('donna')
    expect(await statusOf(gateway, await issuer.sign({})), JSON.stringify(discovery).slice(0, 80)).toBe(401)
  }
  expect(inside.keyReads).toBe(0)
})

test('a revoked token is refused before it expires, and its resources end', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer)
  await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const [token, next] = [await issuer.sign({ jti: 'one' }), await issuer.sign({ jti: 'two' })]
  const { id } = await gateway.subscribe({ handle: '@donna', key: token }, 'http://127.0.0.1:9/')
  const revoke = (key: string, what: string) => gateway.call('POST', '/v1/tokens/revoke', { token: what }, { key })
  expect((await revoke(mike.key, token)).status).toBe(403)
  expect((await revoke(mike.key, 'a.b.c')).body).toMatchObject({ status: 400, field: 'token' })
  const viewer = (await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })).body.operatorKey
  expect((await revoke(viewer, token)).body).toMatchObject({
    status: 403,
    detail: expect.stringMatching(/without the scope manage/),
  })
  expect((await revoke(next, token)).status).toBe(204)
  expect(await statusOf(gateway, token)).toBe(401)
  expect(await statusOf(gateway, next)).toBe(200)
  expect((await gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body).toMatchObject({ reason: 'key-revoked' })
})

test('with a revoked token the keys that it made end too, if the one who revokes it may make keys', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer, { claims: { role: 'role', scopes: 'scope' }, projects: '*' })
  await gateway.addAgent('donna')
  const revoke = (key: string, token: string, minted: boolean) =>
    gateway.call('POST', '/v1/tokens/revoke', { token, minted }, { key })
  const mint = async (key: string) => {
    const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['read', 'mint'] }, { key })
    return body.apiKey as string
  }
  const claims = { project: 'default', scope: 'read manage mint' }
  const leaked = await issuer.sign({ ...claims, jti: 'leaked' })
  const first = await mint(leaked)
  const second = await mint(first)
  const weak = await issuer.sign({ ...claims, scope: 'read manage', jti: 'weak' })
  expect((await revoke(weak, leaked, true)).body).toMatchObject({ status: 403, field: 'minted' })
  expect(await statusOf(gateway, leaked)).toBe(200)
  expect((await revoke(gateway.adminKey, leaked, true)).status).toBe(204)
  for (const key of [leaked, first, second]) expect(await statusOf(gateway, key)).toBe(401)

  // A token of an operator makes keys of operators, which make keys of agents.
  const admin = await issuer.sign({ sub: 'ops', role: 'admin', jti: 'admin' })
  const { body } = await gateway.call('POST', '/v1/operator-keys', { role: 'admin' }, { key: admin })
  const third = await mint(body.operatorKey)
  expect((await revoke(admin, admin, true)).status).toBe(204)
  for (const key of [admin, body.operatorKey, third]) expect(await statusOf(gateway, key)).toBe(401)
})

test('a revoked token is refused by a gateway that starts later', async () => {
  await using issuer = await startIssuer()
  const entry = { claims: { role: 'role' }, projects: '*' }
  await using gateway = await startTrusting(issuer, entry)
  await gateway.addAgent('donna')
  const tokens = [
    await issuer.sign({ project: 'default', jti: 'agent' }),
    await issuer.sign({ role: 'admin', jti: 'operator' }),
  ]
  for (const token of tokens) {
    expect(await statusOf(gateway, token)).toBe(200)
    expect((await gateway.call('POST', '/v1/tokens/revoke', { token })).status).toBe(204)
  }
  await gateway.stop()
  await using next = await startTrusting(issuer, entry, { dataDir: gateway.dataDir })
  for (const token of tokens) expect(await statusOf(next, token)).toBe(401)
  expect(await statusOf(next, await issuer.sign({ project: 'default', jti: 'another' }))).toBe(200)
})

test('what a token made can be revoked after the token itself, once and again', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer, { claims: { role: 'role', scopes: 'scope' }, projects: '*' })
  await gateway.addAgent('donna')
  const revoke = (token: string, minted: boolean, key = gateway.adminKey) =>
    gateway.call('POST', '/v1/tokens/revoke', { token, minted }, { key })
  const mint = async (key: string) =>
    (await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['read', 'mint'] }, { key })).body.apiKey as string
  const leaked = await issuer.sign({ project: 'default', scope: 'read manage mint', jti: 'leaked' })
  const other = await issuer.sign({ project: 'default', scope: 'read manage', jti: 'other' })
  const first = await mint(leaked)
  const second = await mint(first)
  expect((await revoke(leaked, false)).status).toBe(204)
  expect([await statusOf(gateway, first), await statusOf(gateway, second)]).toEqual([200, 200])
  expect((await revoke(leaked, true, other)).body).toMatchObject({ status: 403, field: 'minted' })
  expect((await revoke(leaked, true)).status).toBe(204)
  for (const key of [leaked, first, second]) expect(await statusOf(gateway, key)).toBe(401)
  expect([(await revoke(leaked, true)).status, (await revoke(leaked, false)).status]).toEqual([204, 204])
  // Each once: the token, and both keys.
  expect(await besideStore(gateway.dataDir, "select type from event where type = 'key.revoked'")).toHaveLength(3)

  // A token of an operator makes keys of operators, which make keys of agents.
  const admin = await issuer.sign({ sub: 'ops', role: 'admin', jti: 'admin' })
  const { body } = await gateway.call('POST', '/v1/operator-keys', { role: 'admin' }, { key: admin })
  const third = await mint(body.operatorKey)
  expect((await revoke(admin, false)).status).toBe(204)
  expect(await statusOf(gateway, third)).toBe(200)
  expect((await revoke(admin, true)).status).toBe(204)
  for (const key of [admin, body.operatorKey, third]) expect(await statusOf(gateway, key)).toBe(401)
})

test('without `minted` the keys that a revoked token made stay valid', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer, { claims: { scopes: 'scope' } })
  await gateway.addAgent('donna')
  const token = await issuer.sign({ scope: 'read mint', jti: 'one' })
  const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['read'] }, { key: token })
  expect((await gateway.call('POST', '/v1/tokens/revoke', { token })).status).toBe(204)
  expect(await statusOf(gateway, token)).toBe(401)
  expect(await statusOf(gateway, body.apiKey)).toBe(200)
})

test('the card says that tokens of the issuer are accepted, in both versions', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer)
  await gateway.addAgent('donna')
  const card = async (version: string) =>
    (
      await gateway.call('GET', '/agents/donna/.well-known/agent-card.json', undefined, {
        headers: { 'A2A-Version': version },
      })
    ).body
  const openIdConnectUrl = `${issuer.url}/.well-known/openid-configuration`
  const current = await card('1.0')
  expect(current.securitySchemes).toMatchObject({
    apiKey: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    token: { openIdConnectSecurityScheme: { openIdConnectUrl } },
  })
  expect(current.securityRequirements).toHaveLength(2)
  const legacy = await card('0.3')
  expect(legacy.securitySchemes.token).toMatchObject({ type: 'openIdConnect', openIdConnectUrl })
  expect(legacy.security).toHaveLength(2)
})
