import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'
import { dataDirectory } from '../support/data-directory.ts'

const entry = { issuer: 'https://id.example/realms/team', audience: 'rouse' }
const read = (value: unknown) =>
  envToConfig({ ROUSE_JWT_ISSUERS: typeof value === 'string' ? value : JSON.stringify(value) }).jwtIssuers

test('an issuer needs its name and an audience; the rest has safe defaults', () => {
  expect(read([entry])).toEqual([
    {
      issuer: entry.issuer,
      audience: ['rouse'],
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
      claims: { agent: 'sub' },
      projects: ['default'],
    },
  ])
  expect(envToConfig({}).jwtIssuers).toEqual([])
})

test('the list may be in a file', () => {
  using directory = dataDirectory()
  const path = join(directory.path, 'issuers.json')
  writeFileSync(path, JSON.stringify([{ ...entry, audience: ['a', 'b'] }]))
  expect(read(path)[0]!.audience).toEqual(['a', 'b'])
  expect(() => read(join(directory.path, 'missing.json'))).toThrow('ROUSE_JWT_ISSUERS: ENOENT')
})

test.each([
  ['nothing that is JSON', '[{', 'not valid JSON'],
  ['an issuer without an audience', [{ issuer: entry.issuer }], '0.audience'],
  ['no audience at all', [{ ...entry, audience: [] }], '0.audience'],
  ['plain HTTP', [{ ...entry, issuer: 'http://id.example' }], '0.issuer: is an https URL'],
  ['a user name', [{ ...entry, issuer: 'https://me@id.example' }], '0.issuer'],
  ['a query', [{ ...entry, issuer: 'https://id.example?x=1' }], '0.issuer'],
  ['another scheme', [{ ...entry, jwksUri: 'file:///etc/passwd' }], '0.jwksUri'],
  ['no signature', [{ ...entry, algorithms: ['none'] }], '0.algorithms.0'],
  ['a shared secret', [{ ...entry, algorithms: ['RS256', 'HS256'] }], '0.algorithms.1'],
  ['no algorithm', [{ ...entry, algorithms: [] }], '0.algorithms'],
  ['a field that there is not', [{ ...entry, secret: 'x' }], 'secret'],
  ['an issuer twice', [entry, entry], 'listed twice'],
])('an entry with %s is refused', (_what, value, message) => {
  expect(() => read(value)).toThrow(message)
  expect(() => read(value)).toThrow('ROUSE_JWT_ISSUERS')
})

test('plain HTTP is for this machine', () => {
  for (const issuer of ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000']) {
    expect(read([{ ...entry, issuer }])[0]!.issuer).toBe(issuer)
  }
})
