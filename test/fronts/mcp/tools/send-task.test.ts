import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { ApiAnswer, CallApi } from '../../../../src/fronts/mcp/call-api.ts'
import { runTool } from '../../../../src/fronts/mcp/tools/run-tool.ts'
import { sendTask } from '../../../../src/fronts/mcp/tools/send-task.ts'
import type { ToolContext } from '../../../../src/fronts/mcp/tools/tool.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const context = {
  call: { id: 1 },
  signal: new AbortController().signal,
  own: async () => ({ identity: '@donna', project: 'default' }),
} as unknown as ToolContext

/** Answers a send, and then tells, while the task is read, whether the answer to the send is still in memory. */
async function keptWhile(answer: () => Record<string, unknown>) {
  let sent: WeakRef<object> | undefined
  let isKept: boolean | undefined
  const call: CallApi = async ({ method }) => {
    if (method === 'POST') {
      const body = answer()
      sent = new WeakRef(body)
      return { status: 200, headers: {}, body } as ApiAnswer
    }
    await new Promise(setImmediate)
    collectGarbage()
    isKept = sent?.deref() !== undefined
    return { status: 200, headers: {}, body: { id: 't1', state: 'submitted', version: 1, status: {}, history: [] } }
  }
  const result = await runTool(sendTask, call, { to: '@mike', text: 'more', taskId: 't1' }, context)
  return { isKept, result }
}

test('the answer to a send does not stay in memory while the task is read', async () => {
  const text = 'x'.repeat(1_000_000)
  const task = () => ({
    task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_SUBMITTED' }, history: [{ text }] },
  })
  const { isKept, result } = await keptWhile(task)
  expect([isKept, result.isError]).toEqual([false, undefined])
  expect(result.structuredContent).toMatchObject({ taskId: 't1', contextId: 'c1', state: 'submitted' })
})

test('a message that answers at once is cut before the task is read, and says so', async () => {
  const parts = [{ text: 'x'.repeat(1_000_000) }]
  const { isKept, result } = await keptWhile(() => ({
    message: { messageId: 'm1', taskId: 't1', contextId: 'c1', parts },
  }))
  expect(isKept).toBe(false)
  expect(result.structuredContent).toMatchObject({
    taskId: 't1',
    answer: { messageId: 'm1', text: expect.stringMatching(/^x{20000}… \[cut: 1000000 characters in all\]$/) },
    isCut: true,
  })
})
