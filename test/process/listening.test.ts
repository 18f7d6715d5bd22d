import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freePort, runRouse, startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

const scratch = mkdtempSync(join(tmpdir(), 'rouse-listening-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('a command line that sends wakes a command line that listens', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const file = join(scratch, 'wakes.jsonl')
  const argv = ['listen', '--subscribe', 'TASK_STATE_CHANGED', '--exec', `cat >> '${file}'`, '--json']
  await using listener = runRouse(argv, { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key })
  await until(listener.output, ({ stderr }) => stderr.includes('Listening to'))

  const sent = await rouse(['send', '@donna', 'Please', 'review', '--json'], gateway.url, gateway.adminKey)
  expect(sent.code).toBe(0)
  const [wake] = await until(
    () => linesOf(file),
    (lines) => lines.length === 1,
  )
  const taskId = JSON.parse(sent.stdout).task.id
  expect(wake).toMatchObject({
    eventType: 'wake/task_state_changed',
    agentIdentity: '@donna',
    payload: { taskId, previousState: null, newState: 'Submitted' },
    tasks: [{ id: taskId, state: 'submitted' }],
  })
  expect(wake).toMatchObject(JSON.parse(listener.output().stdout))

  listener.kill('SIGINT')
  expect(await listener.exited).toMatchObject({ code: 130 })
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions')
  // It gathers until somebody listens again.
  expect(body.subscriptions).toMatchObject([{ trigger: 'TASK_STATE_CHANGED', status: 'waiting' }])
})

test('a listener is served across a restart of the gateway', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  await using listener = runRouse(['listen', '--subscribe', 'SENT_TO_ME', '--json'], {
    ROUSE_URL: gateway.url,
    ROUSE_KEY: donna.key,
  })
  await until(listener.output, ({ stderr }) => stderr.includes('Listening to'))
  await gateway.send(donna, 'before')
  await until(listener.output, ({ stdout }) => stdout.includes('before'))
  await gateway.kill('SIGKILL')
  await gateway.restart()
  await until(listener.output, ({ stderr }) => stderr.match(/Listening to/g)?.length === 2)
  await gateway.send(donna, 'after')

  const lines = await until(
    () => listener.output().stdout.trim().split('\n'),
    (printed) => printed.length === 2,
  )
  expect(lines[0]).toContain('before')
  expect(lines[1]).toContain('after')
  listener.kill('SIGTERM')
  expect(await listener.exited).toMatchObject({ code: 143 })
})

test('the exit code shows who refused', async () => {
  await using gateway = await startProcessGateway()
  expect(await rouse(['send', '@nobody', 'hello'], gateway.url, gateway.adminKey)).toMatchObject({ code: 1 })
  expect(await rouse(['send', '@nobody', 'hello'], gateway.url, 'rk_wrong')).toMatchObject({ code: 1 })
  expect(await rouse(['send', '@nobody'], gateway.url, gateway.adminKey)).toMatchObject({ code: 2 })
  const nowhere = `http://127.0.0.1:${await freePort()}`
  expect(await rouse(['send', '@nobody', 'hello'], nowhere, gateway.adminKey)).toMatchObject({ code: 3 })
})

async function rouse(argv: readonly string[], url: string, key: string) {
  await using command = runRouse(argv, { ROUSE_URL: url, ROUSE_KEY: key })
  return await command.exited
}

/** The output of the command, whole lines only. */
function linesOf(file: string): unknown[] {
  try {
    const text = readFileSync(file, 'utf8')
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
