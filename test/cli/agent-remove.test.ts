import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

async function office() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const working = await gateway.send('donna', 'one')
  await gateway.move(donna, working.id, 'working')
  const waiting = await gateway.send('donna', 'two')
  const done = await gateway.send('donna', 'three')
  await gateway.move(donna, done.id, 'completed')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const isThere = async () => (await gateway.call('GET', '/v1/agents/donna')).status === 200
  return {
    gateway,
    donna,
    working,
    waiting,
    done,
    env,
    isThere,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

test('on a terminal agent rm asks, and says what becomes of open tasks', async () => {
  await using at = await office()
  const questions: string[] = []
  const answering = (answer: string) => ({
    ask: async (question: string) => {
      questions.push(question)
      return answer
    },
  })
  for (const no of ['', 'n', 'donna']) {
    const { code, stderr } = await run(['agent', 'rm', '@donna'], at.env, answering(no))
    expect([code, stderr]).toEqual([2, expect.stringContaining('@donna was not removed')])
  }
  expect(await at.isThere()).toBe(true)
  expect(questions[0]).toContain('Remove @donna, its keys and its subscriptions? Its 2 open tasks will be rejected.')
  const { code, stdout } = await run(['agent', 'rm', '@donna'], at.env, answering('yes'))
  expect(code).toBe(0)
  expect(stdout).toBe('@donna is removed. 2 open tasks were rejected.\n')
  expect(await at.isThere()).toBe(false)
  const states = await Promise.all(
    [at.working, at.waiting, at.done].map(({ id }) => at.gateway.call('GET', `/v1/tasks/${id}`)),
  )
  expect(states.map(({ body }) => body.state)).toEqual(['rejected', 'rejected', 'completed'])
})

test('with --yes no question is put; the number of tasks is in the JSON too', async () => {
  await using at = await office()
  const never = { ask: () => Promise.reject(new Error('It put a question.')) }
  const { code, stdout } = await run(['agent', 'rm', 'donna', '--yes', '--json'], at.env, never)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    handle: '@donna',
    status: 'removed',
    tasksRejected: 2,
  })
  await at.gateway.addAgent('mike')
  expect((await run(['agent', 'rm', 'mike', '--yes'], at.env)).stdout).toBe('@mike is removed. It had no open tasks.\n')
  const again = await run(['agent', 'rm', 'mike', '--free-names', '--yes'], at.env)
  expect(again.code, again.stderr).toBe(0)
})

test('without a terminal nothing is removed, unless --yes is given', async () => {
  await using at = await office()
  const { code, stderr } = await run(['agent', 'rm', 'donna'], at.env)
  expect([code, stderr]).toEqual([
    2,
    'error: Remove @donna, its keys and its subscriptions? Its 2 open tasks will be rejected. Nobody is at a terminal to answer. @donna was not removed. --yes says yes.\n',
  ])
  expect(await at.isThere()).toBe(true)
})

test('a key that may not remove agents is refused', async () => {
  await using at = await office()
  const { stderr } = await run(['agent', 'rm', 'donna', '--yes'], { ...at.env, ROUSE_KEY: at.donna.key })
  expect(stderr).toContain('Only the operator may remove agents')
  expect(stderr).toContain('The key of @donna was used')
})
