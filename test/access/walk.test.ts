import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restOperations } from '../../src/fronts/rest/table.ts'
import type { Planned } from '../requests/sample.ts'
import { type Expected, expected } from './expected.ts'
import { restCases } from './rest-requests.ts'
import { everybody, must, projectSecret, secret, startWorld, type Who, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const codes: Record<Exclude<Expected, 'ok'>, readonly number[]> = {
  unauthenticated: [401],
  forbidden: [403],
  hidden: [403, 404, 409],
}

describe.each(restOperations)('$route', (row) => {
  const one = restCases[row.name]!
  const refused = everybody.filter((who) => expected(row, who, one) !== 'ok')
  const allowed = everybody.filter((who) => expected(row, who, one) === 'ok')

  test('changes nothing and shows nothing where it is refused', async () => {
    const request = await one.plant(world)
    const before = await world.heads()
    for (const who of refused) {
      const answer = await callAs(who, request)
      const outcome = expected(row, who, one) as Exclude<Expected, 'ok'>
      expect(codes[outcome], `${who}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
      expect(shown(answer), who).not.toMatch(/CANARY/)
    }
    expect(await world.changesSince(before)).toEqual([])
  })

  test('is allowed for the callers that the table allows', async () => {
    for (const who of allowed) {
      const request = await one.plant(world)
      const answer = await callAs(who, request)
      const done = one.answers === undefined ? answer.status < 300 : answer.status === one.answers
      expect(done, `${who}: ${answer.status} ${JSON.stringify(answer.body)}`).toBe(true)
      if (who === 'zoe' || who === 'manager elsewhere') expect(shown(answer), who).not.toMatch(/CANARY/)
      if (who === 'mike') expect(shown(answer), who).not.toContain(secret)
    }
  })
})

/** Of a scope that is missing the refusal says which, and what to do. */
test.each(restOperations.filter(({ agent, scope }) => agent !== 'never' && scope !== 'any'))(
  '$route names the scope that is missing',
  async (row) => {
    const request = await restCases[row.name]!.plant(world)
    const other = row.scope === 'read' ? 'send' : 'read'
    const answer = await callAs(`donna, ${other} only`, request)
    expect(answer.body).toMatchObject({ status: 403, code: 'forbidden', scope: row.scope })
    expect(answer.body.detail).toBe(
      `${row.name} needs the scope "${row.scope}", and this key has "${other}". Use a key with that scope, or ask for one: POST /v1/agents/{handle}/keys.`,
    )
  },
)

function callAs(who: Who, { method, path, body, headers = {} }: Planned) {
  return world.gateway.call(method, path, body, { key: world.keyOf(who), headers })
}

/** An answer as its reader sees it. Mail that came along was for the reader. */
function shown({ body, headers }: { body: unknown; headers: Headers }): string {
  const rest = typeof body === 'object' ? { ...body, pendingSignals: undefined } : body
  return `${JSON.stringify(rest)} ${[...headers].join(' ')}`
}

test('the canaries are there to be found', async () => {
  const { gateway, donna } = world
  const own = await gateway.call('GET', '/v1/agents/donna/keys', undefined, { key: donna.key })
  expect(shown(own)).toContain(secret)
  const read = await gateway.call('GET', '/v1/agents/donna', undefined, { key: world.keyOf('mike') })
  expect(shown(read)).toContain(projectSecret)
})

test('waiting mail goes along with answers to keys with read and work, and waits during all others', async () => {
  const { gateway, donna } = world
  await world.asOwner('POST', '/v1/sessions', { surface: 'test' })
  await must(gateway.call('POST', '/v1/messages', { to: 'donna', subject: secret }))
  for (const who of everybody.filter((one) => one.endsWith(' only'))) {
    const row = restOperations.find(
      ({ name, agent, scope }) => agent !== 'never' && who === `donna, ${scope} only` && name !== 'wake_stream.open',
    )!
    const request = await restCases[row.name]!.plant({ ...world, asOwner: notAsDonna })
    expect((await callAs(who, request)).body).not.toHaveProperty('pendingSignals')
  }
  const { body } = await gateway.call('GET', '/v1/agents', undefined, { key: donna.key })
  expect(body.pendingSignals).toContainEqual(expect.objectContaining({ subject: secret }))
})

/** Calls with donna's own key would deliver the mail with their answers. */
async function notAsDonna(): Promise<never> {
  throw new Error('Plant something that donna has no hand in.')
}

test('operators share one mailbox and one name; mail of a project is for operators of that project', async () => {
  const { gateway } = world
  const { messageId, threadId } = await world.asOwner('POST', '/v1/messages', { to: 'operator', subject: secret })
  const task = await gateway.send('donna', secret)
  const readAs = (who: Who, path: string) => gateway.call('GET', path, undefined, { key: world.keyOf(who) })
  for (const path of ['inbox', 'inbox?unread=true', 'messages', 'tasks', 'tasks?role=originator']) {
    const answer = await readAs('manager elsewhere', `/v1/${path}`)
    expect(shown(answer), path).not.toMatch(/CANARY/)
    expect(answer.body.totalSize ?? 0).toBe(0)
  }
  for (const path of [`messages/${messageId}`, `threads/${threadId}`, `tasks/${task.id}`]) {
    expect((await readAs('manager elsewhere', `/v1/${path}`)).status, path).toBe(404)
    expect((await readAs('viewer', `/v1/${path}`)).status, path).toBe(200)
  }
  const marked = { key: world.keyOf('manager elsewhere') }
  expect((await gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, marked)).status).toBe(404)
  expect(shown(await readAs('operator', '/v1/inbox?order=newest'))).toContain(secret)
  expect(shown(await readAs('operator', '/v1/tasks?role=originator'))).toContain(secret)
})
