import { expect, test } from 'vitest'
import { chooseRoute, isProof, type RouteRecord, strongestStep } from '../../src/wakes/rules/route-choice.ts'
import { type ReceiptStep, receiptSteps } from '../../src/words/receipts.ts'
import type { HarnessTarget } from '../../src/words/targets.ts'

const route = (harnessTarget: HarnessTarget, proved: ReceiptStep | null = null, isOpen = true): RouteRecord => ({
  subscriptionId: harnessTarget,
  trigger: 'SENT_TO_ME',
  harnessTarget,
  isOpen,
  proved,
})
const mcp = (proved: ReceiptStep | null) => route('mcp-notifications', proved)
const webhook = route('a2a-webhook', 'delivered')
const bridge = route('bridge-daemon', 'turn_started')

// S1-4, S1-7, D14
test.each([
  ['nothing', [], undefined],
  ['a notification alone', [mcp(null)], 'mcp-notifications'],
  ['an unproven notification beside a webhook', [mcp('written'), webhook], 'a2a-webhook'],
  ['an unproven notification beside a bridge', [mcp('written'), bridge], 'bridge-daemon'],
  ['a notification that was reported as delivered', [mcp('delivered'), webhook], 'a2a-webhook'],
  ['a proven notification beside a webhook', [webhook, mcp('acked')], 'mcp-notifications'],
  ['a webhook beside a bridge', [bridge, webhook], 'a2a-webhook'],
  ['a webhook that is off', [route('a2a-webhook', 'acked', false), bridge], 'bridge-daemon'],
  ['a proven notification without a session', [route('mcp-notifications', 'acked', false), webhook], 'a2a-webhook'],
  ['what sends nothing', [route('disabled'), route('none')], undefined],
] as const)('%s', (_what, routes, chosen) => {
  expect(chooseRoute(routes)?.harnessTarget).toBe(chosen)
})

test('only an act of the harness is a proof', () => {
  expect(receiptSteps.filter(isProof)).toEqual(['turn_started', 'seen', 'acked', 'resolved'])
  expect(isProof(null)).toBe(false)
})

test('the strongest step of several deliveries counts, and a failure proves nothing', () => {
  const of = (outcome: string, step: ReceiptStep | null = null) => ({ outcome, step })
  expect(strongestStep([])).toBe(null)
  expect(strongestStep([of('written'), of('failed', 'failed'), of('failed', 'refused')])).toBe('written')
  expect(strongestStep([of('delivered', 'turn_started'), of('written'), of('delivered')])).toBe('turn_started')
})
