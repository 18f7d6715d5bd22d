import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { agentPage, presentAgent } from './answers.ts'
import { startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const as = (gateway: TestGateway) => ({ ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey })

test('the operator reads the limits of a project, sets some and resets others', async () => {
  await using gateway = await startGateway()
  const shown = await run(['project', 'limits', 'default'], as(gateway))
  expect(shown.stdout).toMatch(/subscriptions +500 +items +default/)
  const set = ['--set', 'streams=0', '--set', 'keys=20']
  expect((await run(['project', 'limits', 'default', ...set], as(gateway))).stdout).toMatch(
    /streams +no limit .* set\n/,
  )
  const back = await run(['project', 'limits', 'default', '--reset', 'keys', '--json'], as(gateway))
  expect(JSON.parse(back.stdout)).toMatchObject({ limits: { keys: 100, streams: 0 }, overrides: { streams: 0 } })
})

test.each([
  ['--set', 'kyes=5'],
  ['--set', 'keys'],
  ['--set', 'keys=-1'],
  ['--reset', 'toString'],
])('%s %s is refused before a request is sent', async (option, value) => {
  await using gateway = await startStubGateway({})
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: 'rk_x' }
  const { code, stderr } = await run(['project', 'limits', 'default', option, value], env)
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/Give (one of|name=number)/)
  expect(gateway.requests).toHaveLength(0)
})

test('a list that has more than one page is read to its end', async () => {
  const [a, b] = [presentAgent({ handle: '@a' }), presentAgent({ handle: '@b' })]
  await using gateway = await startStubGateway({
    'GET /v1/agents': ({ query }) =>
      query.pageToken === '@a' ? { json: agentPage(b) } : { json: { ...agentPage(a), nextPageToken: '@a' } },
  })
  const { stdout } = await run(['agent', 'list', '--json'], { ROUSE_URL: gateway.url, ROUSE_KEY: 'rk_x' })
  expect(JSON.parse(stdout)).toEqual({ agents: [a, b] })
})
