import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Wake } from '../../src/client/wakes/wake.ts'
import { runWakeCommand } from '../../src/client/wakes/wake-command.ts'
import { dataDirectory } from '../support/data-directory.ts'

const wake: Wake = {
  eventType: 'wake/sent_to_me',
  eventId: '01HWAKE0000000000000000001',
  logId: 7,
  agentIdentity: '@donna',
  subscriptionId: 'WAKE_SUB:1',
  payload: { subject: '$(touch /tmp/pwned) `id` ; exit 9', from: '@x', taskId: '$(id)' },
}

test('a command gets the wake on its input and the ids in its environment, no secret, and nothing of it becomes a command', async () => {
  using directory = dataDirectory()
  const file = join(directory.path, 'out')
  const names = ['EVENT_TYPE', 'EVENT_ID', 'LOG_ID', 'TASK_ID', 'SUBSCRIPTION_ID', 'KEY', 'ADMIN_KEY', 'DATABASE_URL']
  const shown = [...names.map((name) => `$ROUSE_${name}`), '$ROUSE_KEY_FILE', '$KEPT'].join('|')
  const command = `cat > ${file}; echo "${shown}" >> ${file}`
  const secrets = { ROUSE_KEY: 'rk_x', ROUSE_ADMIN_KEY: 'rk_y', ROUSE_DATABASE_URL: 'postgres://a:b@c' }
  const env = { ...process.env, ...secrets, ROUSE_KEY_FILE: 'donna.key', KEPT: 'kept' }
  const end = await runWakeCommand(wake, { command, env, stdout() {}, stderr() {} })
  expect(end).toEqual({ hasStarted: true, exitCode: 0, lastLine: '' })
  const [json, variables] = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(JSON.parse(json!)).toEqual(wake)
  expect(variables).toBe('wake/sent_to_me|01HWAKE0000000000000000001|7| $(id)|WAKE_SUB:1||||donna.key|kept')
})
