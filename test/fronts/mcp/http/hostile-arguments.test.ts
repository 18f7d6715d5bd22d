import { expect, test } from 'vitest'
import { operatorTools } from '../../../../src/fronts/mcp/operator/table.ts'
import { tools } from '../../../../src/fronts/mcp/tools/table.ts'
import { hostileValues } from '../../../misuse/fuzz/hostile-values.ts'
import { liftRates, startGateway } from '../../../support/gateway.ts'
import { callTool } from './call-tool.ts'

/** Arguments that every tool takes as they are, so that the hostile one is reached. */
const others: Readonly<Record<string, object>> = {
  claim: { action: 'list' },
  grant: { action: 'list' },
  manage_wake_subscription: { action: 'list' },
  send_task: { to: '@donna', text: 'x' },
  send_message: { to: '@donna', subject: 'x' },
  wait_for_messages: { timeoutSeconds: 1 },
  task_write: { action: 'cancel', taskId: 'none', expectedVersion: 1 },
  subscription_write: { action: 'pause', subscriptionId: 'none' },
  recovery_write: { action: 'gate' },
  need_write: { action: 'snooze', need: 'none', until: '2046-01-01T00:00:00Z' },
  message_write: { action: 'send', to: '@donna', subject: 'x', body: 'x' },
}

/** All of them take a minute. */
const share = 16

test('whatever an argument is, the call is answered, and never as a fault of the gateway', async () => {
  await using gateway = await startGateway({
    env: { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_TURNS: '0', ROUSE_BLOCKING_TIMEOUT: '0' },
  })
  await liftRates(gateway)
  const mallory = await gateway.addAgent('mallory')
  await gateway.addAgent('donna')
  const faults: string[] = []
  const asOperator = { key: gateway.adminKey, path: '/mcp?tools=read,write' }
  const served = [
    ...tools.map((tool) => ({ tool, as: { key: mallory.key, path: '/mcp' } })),
    ...operatorTools.map((tool) => ({ tool, as: asOperator })),
  ]
  const given = served.flatMap(({ tool: { name, input }, as }) =>
    Object.keys(input.shape)
      .filter((argument) => argument !== 'timeoutSeconds')
      .map((argument) => ({ name, argument, as })),
  )
  // Each argument gets some of the values, and each value goes to some arguments of each kind.
  const calls = given.flatMap((one, nth) =>
    hostileValues.flatMap((value, at) => ((at + nth) % share === 0 ? [{ ...one, value: value() }] : [])),
  )
  const next = calls.values()
  const work = async () => {
    for (const { name, argument, value, as } of next) {
      const answer = await callTool(gateway, as.key, name, { ...others[name], [argument]: value }, as.path)
      // A value may be too deep for any request: then there is no result.
      if (answer.status >= 500 || /\(internal\)|-32603/.test(answer.text))
        faults.push(`${name}.${argument}: ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  expect(calls.length).toBeGreaterThan(400)
  expect(faults).toEqual([])
})
