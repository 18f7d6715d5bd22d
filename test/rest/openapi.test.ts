import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

test('the OpenAPI document needs no key, may be cached, and is not sent again to who has it', async () => {
  await using gateway = await startGateway()
  const ask = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${gateway.url}/openapi.json`, { method, headers })
  const answer = await ask()
  const etag = answer.headers.get('etag')!
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
  expect(await answer.text()).toBe(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await ask({ 'if-none-match': tag })
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
  }
  expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200)
  expect((await ask({}, 'HEAD')).headers.get('etag')).toBe(etag)
  expect((await ask({}, 'POST')).status).toBe(405)
})
