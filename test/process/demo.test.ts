import { expect, test } from 'vitest'
import { runRouse } from '../support/process-gateway.ts'
import { buildWords } from '../support/program/rouse-words.ts'

/** Each step of the story, in the order in which it happens. */
const steps = [
  /gateway +listens at/,
  /peer +left a task over A2A, which nobody is there to take/,
  /harness +found mail that waited, from @lola/,
  /harness +runs in its own process/,
  /harness +completed it/,
  /peer +sends over A2A/,
  /harness +woken by wake\/task_state_changed \(Submitted\)/,
  /peer +got TASK_STATE_COMPLETED: "7 words/,
  /SendMessage to the answer/,
]

// D29
test('the demo gives a harness what was sent before it started, and wakes it by what is sent while it runs', async () => {
  await using demo = runRouse(['demo', '--exit', '--port', '0'], {}, buildWords())
  const { code, stdout, stderr } = await demo.exited
  expect(code, stderr).toBe(0)
  const places = steps.map((step) => stdout.search(step))
  expect(places).not.toContain(-1)
  expect(places).toEqual([...places].sort((one, other) => one - other))
})
