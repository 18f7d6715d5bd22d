import { expect, test } from 'vitest'
import { mayBecome, type SubscriptionStatus, statusesBefore } from '../../src/registry/subscriptions/status.ts'

// D5
test.each<[SubscriptionStatus, SubscriptionStatus[]]>([
  ['active', ['active', 'degraded', 'paused']],
  ['degraded', ['active', 'degraded', 'paused']],
  ['paused', ['active', 'paused']],
])('a subscription that is %s may become %j, or stay unchanged', (from, next) => {
  const all: SubscriptionStatus[] = ['active', 'degraded', 'paused']
  expect(all.filter((to) => mayBecome(from, to))).toEqual(next)
})

test('the statuses before one are those that may become it, without itself', () => {
  expect(statusesBefore('active')).toEqual(['waiting', 'degraded', 'paused'])
  expect(statusesBefore('degraded')).toEqual(['active'])
  expect(statusesBefore('paused')).toEqual(['active', 'waiting', 'degraded'])
})
