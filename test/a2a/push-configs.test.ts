import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { legacy, wireTo } from './wire.ts'

async function start(ids: readonly string[]) {
  const gateway = await startGateway()
  const receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const wire = wireTo(gateway, donna, mike.key)
  const { id: taskId } = await gateway.send('donna', 'hello', { key: mike.key })
  for (const id of ids) await wire.rpc('CreateTaskPushNotificationConfig', { taskId, id, url: receiver.url })
  const stop = async () => {
    await gateway[Symbol.asyncDispose]()
    await receiver[Symbol.asyncDispose]()
  }
  return { wire, taskId, [Symbol.asyncDispose]: stop }
}

test('a page of configs has at most pageSize, and the next one begins after it', async () => {
  await using s = await start(['a', 'b', 'c'])
  const { wire, taskId } = s
  const page = async (params: object) =>
    (await wire.rpc('ListTaskPushNotificationConfigs', { taskId, ...params })).body.result
  const seen: string[] = []
  let pageToken = ''
  do {
    const { configs, nextPageToken } = await page({ pageSize: 1, pageToken })
    expect(configs).toHaveLength(1)
    seen.push(configs[0].id)
    pageToken = nextPageToken ?? ''
  } while (pageToken)
  expect(seen).toEqual(['a', 'b', 'c'])
  expect((await page({})).configs).toHaveLength(3)
  const rest = await wire.rest('GET', `/tasks/${taskId}/pushNotificationConfigs?pageSize=2`)
  expect([rest.body.configs.length, typeof rest.body.nextPageToken]).toEqual([2, 'string'])
  expect((await wire.rpc('ListTaskPushNotificationConfigs', { taskId, pageSize: -1 })).body.error.code).toBe(-32602)
})

test('a config is read and deleted by its id, which is required', async () => {
  await using s = await start(['a', 'b'])
  const { wire, taskId } = s
  for (const method of ['GetTaskPushNotificationConfig', 'DeleteTaskPushNotificationConfig']) {
    const { error } = (await wire.rpc(method, { taskId })).body
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('id: is required') })
  }
  const gone = await wire.rpc('tasks/pushNotificationConfig/delete', { id: taskId }, legacy)
  expect(gone.body.error.code).toBe(-32602)
  expect((await wire.rpc('ListTaskPushNotificationConfigs', { taskId })).body.result.configs).toHaveLength(2)
})

test.each([{}, { pushNotificationConfigId: 'default' }])(
  'in v0.3 a missing id, or `default`, is the only config of the task: %o',
  async (named) => {
    await using s = await start(['mine'])
    const { wire, taskId } = s
    const read = () => wire.rpc('tasks/pushNotificationConfig/get', { id: taskId, ...named }, legacy)
    expect((await read()).body.result.pushNotificationConfig.id).toBe('mine')
    const receiver = 'http://127.0.0.1:9/x'
    await wire.rpc('CreateTaskPushNotificationConfig', { taskId, id: 'other', url: receiver })
    expect((await read()).body.error.code).toBe(-32001)
  },
)
