import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { restTable } from '../../src/fronts/rest/table.ts'
import { startGateway } from '../support/gateway.ts'

const secretFields = /"(apiKey|operatorKey|signingKey)":|SignInCode/

/** A route as openapi.json writes it. */
const inOpenapi = (route: string): [method: string, path: string] => {
  const [method = '', path = ''] = route.split(' ')
  return [method.toLowerCase(), path.replace(/:(\w+)/g, '{$1}')]
}

test('every route whose answers may have a secret says so', () => {
  const { paths, components } = JSON.parse(readFileSync(`${import.meta.dirname}/../../openapi.json`, 'utf8'))
  const withRefs = (text: string): string =>
    text.replace(
      /\{"\$ref":"#\/components\/schemas\/(\w+)"\}/g,
      (_, name) => name + JSON.stringify(components.schemas[name]),
    )
  const told = restTable.routes.filter(({ hasSecret }) => hasSecret).map(({ route }) => route)
  const found = restTable.routes.filter(({ route }) => {
    const [method, path] = inOpenapi(route)
    const answers = Object.entries(paths[path]?.[method]?.responses ?? {}).filter(([status]) => status.startsWith('2'))
    return secretFields.test(withRefs(withRefs(JSON.stringify(answers))))
  })
  expect(found.map(({ route }) => route)).toEqual(told)
  expect(told).toHaveLength(6)
})

test('no cache keeps an answer that has a secret, nor its repeat', async () => {
  await using gateway = await startGateway()
  const answers = []
  for (const [path, body] of [
    ['/v1/agents', { handle: 'donna' }],
    ['/v1/agents/donna/keys', {}],
    ['/v1/operator-keys', { role: 'viewer' }],
    ['/v1/sign-in-codes', undefined],
  ] as const) {
    const headers = { 'Idempotency-Key': path }
    for (let n = 0; n < 2; n++) answers.push(await gateway.call('POST', path, body, { headers }))
  }
  const donna = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  answers.push(await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true }, donna))
  for (const { status, headers } of answers)
    expect([status < 300, headers.get('cache-control')]).toEqual([true, 'no-store'])
})
