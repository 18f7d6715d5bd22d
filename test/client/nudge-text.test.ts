import { expect, test } from 'vitest'
import { wakeLine } from '../../src/cli/listen/wake-line.ts'
import type { Wake } from '../../src/client/wakes/wake.ts'
import { runWakeCommand } from '../../src/client/wakes/wake-command.ts'

const wake: Wake = {
  eventType: 'wake/heartbeat_pulse',
  eventId: '01KABCDEFGHJKMNPQRSTVWXYZ0',
  agentIdentity: '@donna',
  payload: { unread: 0, openTasks: 1, oldestAt: '2026-11-27T09:00:00.000Z', next: 'rouse task show task_1' },
}
const why = 'The gateway reminds you: you have 1 open task, the oldest since 2026-11-27T09:00:00.000Z.'

test('rouse listen shows why a nudge came, and the next action', () => {
  expect(wakeLine({}, wake)).toBe(`wake/heartbeat_pulse  @donna  ${why} Next: rouse task show task_1`)
})

test('a command gets the text of a nudge in ROUSE_TEXT, though it names no message and no task', async () => {
  const said: string[] = []
  const add = (text: string) => void said.push(text)
  const context = { messages: [], tasks: [] }
  const command = 'printf "%s" "$ROUSE_TEXT"'
  const end = await runWakeCommand(wake, { command, env: process.env, context, stdout: add, stderr: add })
  expect(end).toMatchObject({ hasStarted: true })
  expect(said.join('')).toBe(`${why}\nNext: rouse task show task_1`)
})
