import { expect, test } from 'vitest'
import { startGateway, type TestAgent } from '../support/gateway.ts'
import { restAs } from '../support/rest.ts'

test('the messageId of a wake leads a recipient to the task, and a follow-up answers the previous mail', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const ines = await gateway.addAgent('ines')
  const metadata = { priority: 'high', taggedConcepts: ['billing'], wakePolicy: 'next_turn' }
  const task = await gateway.send('donna', '\n  First line \nsecond', { key: mike.key, message: { metadata } })
  await gateway.send('donna', 'and another thing', { key: mike.key, message: { taskId: task.id } })
  const { body } = await restAs(gateway, donna).get('/v1/events')
  const sent = body.events.filter(({ type }: { type: string }) => type === 'message.sent')
  const [first, second] = sent.map((event: { data: { messageId: string } }) => event.data.messageId)
  const read = (id: string, agent: TestAgent | 'operator' = donna) => restAs(gateway, agent).get(`/v1/messages/${id}`)

  expect((await read(first)).body).toMatchObject({
    messageId: first,
    threadId: first,
    from: '@mike',
    subject: 'First line',
    priority: 'high',
    wakePolicy: 'next_turn',
    taggedConcepts: ['billing'],
    inReplyTo: null,
    taskId: task.id,
    recipients: [{ agent: '@donna', status: 'sent' }],
  })
  expect((await read(second)).body).toMatchObject({ threadId: first, inReplyTo: first, priority: 'normal' })
  await read(first, mike).expect(200)
  await read(first, ines).expect(404)
  await read(first, 'operator').expect(200)
})
