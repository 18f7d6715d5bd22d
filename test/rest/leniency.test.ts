import { expect, test } from 'vitest'
import { z } from 'zod'
import { restTable } from '../../src/fronts/rest/table.ts'
import { startGateway } from '../support/gateway.ts'
import { restAs } from '../support/rest.ts'

// S4-7
test('a claim is released by its ref in the body or in the query; without a ref nothing is released', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const rest = restAs(gateway, lola)
  const release = () => rest.delete('/v1/claims')
  for (const ref of ['one', 'path/with space']) await rest.post('/v1/claims').send({ ref }).expect(201)
  expect((await release().expect(400)).body).toMatchObject({ field: 'ref' })
  expect((await release().query({ reference: 'one' }).expect(400)).body).toMatchObject({ field: 'reference' })
  expect((await release().send({ ref: 'one', force: true })).body).toMatchObject({ field: 'force' })
  await release().send({ ref: 'one' }).expect(204)
  await release().query({ ref: 'path/with space' }).expect(204)
  expect((await rest.get('/v1/claims')).body.claims).toEqual([])
})

// S2-10
test('every flag of a query is true, false, 1 or 0 in any case; anything else is refused by name', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const { body } = await restAs(gateway, lola).post('/v1/messages').send({ to: 'donna', subject: 'x' })
  const rest = restAs(gateway, donna)
  const inbox = async (unread: string) => (await rest.get('/v1/inbox').query({ unread })).body.messages?.length
  expect([await inbox('true'), await inbox('1')]).toEqual([1, 1])
  await rest.post(`/v1/messages/${body.messageId}/status`).send({ status: 'seen' }).expect(200)
  expect([await inbox('true'), await inbox('1'), await inbox('false'), await inbox('0')]).toEqual([0, 0, 1, 1])
  expect([await inbox('TRUE'), await inbox('False')]).toEqual([0, 1])
  for (const [path, field] of [
    ['/v1/inbox', 'unread'],
    ['/v1/tasks', 'includeArtifacts'],
  ] as const) {
    for (const word of ['yes', '']) {
      const { body: refusal } = await rest.get(`${path}?${field}=${word}`).expect(400)
      expect(refusal).toMatchObject({ field, detail: expect.stringContaining('is true or false') })
    }
    await rest.get(`${path}?${field}=True`).expect(200)
  }
  const removal = await gateway.call('DELETE', '/v1/agents/donna?freeNames=on')
  expect(removal.body).toMatchObject({ status: 400, field: 'freeNames' })
})

test('an empty page token, with which every list ends, begins every list', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'x')
  const subscription = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const of = (path: string) => gateway.call('GET', `${path}${path.includes('?') ? '&' : '?'}pageToken=`)
  const lists = restTable.routes
    .filter(
      ({ route, query }) =>
        route.startsWith('GET ') && query && 'pageToken' in (z.toJSONSchema(query, { io: 'input' }).properties ?? {}),
    )
    .filter(({ route }) => !route.includes('/threads/'))
    .map(({ route }) =>
      route.slice(4).replace('/tasks/:id', `/tasks/${id}`).replace(':id', subscription.id).replace(':handle', 'donna'),
    )
  expect(lists.length).toBeGreaterThan(15)
  for (const path of lists) expect([path, (await of(path)).status]).toEqual([path, 200])
})
