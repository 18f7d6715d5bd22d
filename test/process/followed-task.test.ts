import { expect, test } from 'vitest'
import { overHttp } from '../fronts/mcp/followed/wire.ts'
import { startProcessGateway } from '../support/process-gateway.ts'

test('kill -9 between the end of a task and the poll, and between the poll and its answer, loses no end', async () => {
  await using gateway = await startProcessGateway()
  const [donna, bob] = [await gateway.addAgent('@donna'), await gateway.addAgent('@bob')]
  const client = overHttp(gateway, donna)
  const send = async (text: string) => (await client.run('send_task', { to: '@bob', text })).taskId as string
  const mcpTasks = [await send('first'), await send('second')]
  const { body } = await gateway.call('GET', '/v1/tasks?order=oldest', undefined, { key: bob.key })
  const complete = (id: string) => {
    const move = { to: 'completed', expectedVersion: 1, message: `${id} is done` }
    return gateway.call('POST', `/v1/tasks/${id}/transitions`, move, { key: bob.key })
  }
  const [first, second] = body.tasks as { id: string }[]
  expect((await complete(first!.id)).status).toBe(200)
  await gateway.kill('SIGKILL')
  await gateway.restart()
  const ended = await client.followed(mcpTasks[0]!)
  expect(ended.result.structuredContent).toMatchObject({ taskId: first!.id, state: 'completed' })

  // The end is committed, and the answer to the poll that it releases may be lost.
  const polled = client.ask('tasks/get', { taskId: mcpTasks[1]! }).catch(() => 'lost')
  expect((await complete(second!.id)).status).toBe(200)
  await gateway.kill('SIGKILL')
  await polled
  await gateway.restart()
  for (const [index, id] of [first!.id, second!.id].entries()) {
    const again = await client.followed(mcpTasks[index]!)
    expect(again.result.structuredContent).toMatchObject({
      taskId: id,
      task: { statusMessage: { text: `${id} is done` } },
    })
  }
})
