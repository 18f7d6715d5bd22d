import { expect, test } from 'vitest'
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
test('unread=1 and unread=0 mean true and false', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const { body } = await restAs(gateway, lola).post('/v1/messages').send({ to: 'donna', subject: 'x' })
  const rest = restAs(gateway, donna)
  const inbox = async (unread: string) => (await rest.get('/v1/inbox').query({ unread })).body.messages?.length
  expect([await inbox('true'), await inbox('1')]).toEqual([1, 1])
  await rest.post(`/v1/messages/${body.messageId}/status`).send({ status: 'seen' }).expect(200)
  expect([await inbox('true'), await inbox('1'), await inbox('false'), await inbox('0')]).toEqual([0, 0, 1, 1])
  expect(await inbox('yes')).toBeUndefined()
})
