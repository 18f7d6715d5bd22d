import { expect, test } from 'vitest'
import { deliverableTargets, gatedTargets, harnessTargets } from '../../src/registry/subscriptions/targets.ts'

test('the names of the targets, in the order in which a refusal lists them', () => {
  expect(harnessTargets).toEqual(['mcp-notifications', 'a2a-webhook', 'bridge-daemon', 'disabled', 'none'])
})

test('this gateway sends to webhooks, and presence decides for a bridge alone', () => {
  expect(deliverableTargets).toEqual(['a2a-webhook'])
  expect(gatedTargets).toEqual(['bridge-daemon'])
})
