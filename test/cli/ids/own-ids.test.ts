import { expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { run } from '../terminal.ts'

test('tasks, messages, subscriptions, sessions, keys and permissions are named by the beginning or the end of their ids', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const rouse = async (...argv: string[]) => {
    const { code, stdout, stderr } = await run([...argv, '--json'], env)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const task = await gateway.send('donna', 'Review PR 7')
  const end = (id: string) => id.slice(-8)
  expect(await rouse('task', 'show', end(task.id))).toMatchObject({ id: task.id })
  expect(await rouse('task', 'show', task.id.slice(0, 20))).toMatchObject({ id: task.id })
  expect(await rouse('task', 'move', end(task.id), 'working')).toMatchObject({ state: 'working' })
  const { messageId } = await rouse('mail', '@mike', 'Look')
  expect(await rouse('thread', end(messageId))).toMatchObject({ threadId: messageId })
  const reply = await rouse('reply', end(messageId), 'And again')
  expect(reply).toMatchObject({ threadId: messageId })
  expect(await rouse('thread', reply.messageId)).toMatchObject({ threadId: messageId })
  expect(await rouse('thread', end(reply.messageId))).toMatchObject({ threadId: messageId })
  const { subscriptionId } = await rouse('sub', 'add', '--trigger', 'SENT_TO_ME', '--target', 'none')
  expect(await rouse('sub', 'show', subscriptionId.slice(0, 30))).toMatchObject({ subscriptionId })
  expect(await rouse('sub', 'held', end(subscriptionId))).toMatchObject({ held: [] })
  const { sessionId } = await rouse('session', 'start', '--surface', 'codex')
  expect(await rouse('session', 'beat', end(sessionId))).toMatchObject({ sessionId })
  const { keyId } = await rouse('agent', 'key', 'add', '@donna')
  expect(await rouse('agent', 'key', 'rm', '@donna', end(keyId))).toMatchObject({ keyId, status: 'revoked' })
  const { permissionId } = await rouse('grant', '@mike', 'CAN_REPLY_TO')
  expect(await rouse('grant', 'rm', end(permissionId))).toMatchObject({ permissionId, revoked: true })
})

test('an ambiguous abbreviation changes nothing and lists what it may mean', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const tasks = [await gateway.send('donna', 'one'), await gateway.send('donna', 'two')]
  // Both ids begin with the time.
  const common = tasks[0]!.id.slice(0, 4)
  const { code, stderr } = await run(['task', 'move', common, 'working'], env)
  expect(code).toBe(2)
  for (const { id } of tasks) expect(stderr).toContain(`${id}  submitted · @donna`)
  const unknown = await run(['task', 'show', 'ffffffff'], env)
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there is no task ffffffff')])
})
