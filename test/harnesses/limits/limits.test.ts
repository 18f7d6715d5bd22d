import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { claude } from '../../../src/harnesses/claude/harness.ts'
import { claudeLimit } from '../../../src/harnesses/claude/limit.ts'
import { AccountLimits } from '../../../src/harnesses/codex/adapter/limits.ts'
import { codexLimit } from '../../../src/harnesses/codex/limit.ts'
import { actOf } from '../../../src/harnesses/hooks.ts'
import { opencodeLimit, opencodeRetryLimit } from '../../../src/harnesses/opencode/limit.ts'
import { resetIn } from '../../../src/harnesses/reset-time.ts'

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8').trim()
const lines = (name: string) => read(name).split('\n')

/** 2026-11-27T09:00:00Z, and the reset of the recorded messages at 11:00. */
const now = 1_795_770_000_000
const reset = 1_795_777_200_000
const hourMs = 3_600_000

describe('Codex', () => {
  const [full, sparse, other, failed] = lines('codex-app-server.jsonl').map((line) => JSON.parse(line))

  test('the failed turn at a limit is over at the reset of the window that is full, over sparse messages', () => {
    const limits = new AccountLimits()
    for (const { params } of [full, sparse, other]) limits.note(params.rateLimits)
    expect(limits.limitOf(failed.params.turn.error, now)).toEqual({
      reason: 'usage-limit',
      until: reset,
      detail: failed.params.turn.error.message.slice(0, 200),
    })
  })

  test('an error that is none of a limit, a limit of one model, and a turn without an error park nobody', () => {
    const limits = new AccountLimits()
    limits.note(full.params.rateLimits)
    expect(limits.limitOf({ message: 'stream disconnected', codexErrorInfo: 'serverOverloaded' }, now)).toBeUndefined()
    const ofModel = "You've hit your usage limit for codex_other. Switch to another model now, or try again at 3:00 PM."
    expect(limits.limitOf({ message: ofModel, codexErrorInfo: 'usageLimitExceeded' }, now)).toBeUndefined()
    expect(limits.limitOf(null, now)).toBeUndefined()
  })

  test('credits that are gone and a spend cap wait for a person', () => {
    const limits = new AccountLimits()
    limits.note({ ...full.params.rateLimits, rateLimitReachedType: 'workspace_member_usage_limit_reached' })
    expect(limits.limitOf({ message: 'limit', codexErrorInfo: 'usageLimitExceeded' }, now)).toMatchObject({
      reason: 'spend-cap',
      until: null,
    })
    expect(codexLimit('ERROR: Your workspace is out of credits. Add credits to continue.', now)).toMatchObject({
      reason: 'spend-cap',
      until: null,
    })
  })

  test.each([
    [
      "ERROR: You've hit your usage limit. To get more access now, send a request to your admin or try again in 3 days 6 hours 57 minutes.",
      78 * hourMs + 57 * 60_000,
    ],
    [
      JSON.stringify({ type: 'turn.failed', error: { message: "You've hit your usage limit. Try again in 2 hours." } }),
      2 * hourMs,
    ],
    ["You've hit your usage limit. Try again later.", hourMs],
  ])('%s', (line, afterMs) => {
    expect(codexLimit(line, now)).toMatchObject({ reason: 'usage-limit', until: now + afterMs })
  })

  test('a model that is refused again and again is a limit of requests', () => {
    expect(codexLimit('exceeded retry limit, last status: 429 Too Many Requests, request id: x', now)?.reason).toBe(
      'rate-limit',
    )
    expect(codexLimit('exceeded retry limit, last status: 500', now)).toBeUndefined()
  })
})

describe('Claude Code', () => {
  test('an event that says rejected is a limit until its reset; one that says allowed is none', () => {
    const [start, allowed, rejected] = lines('claude-stream.jsonl')
    expect(claudeLimit(start!, now)).toBeUndefined()
    expect(claudeLimit(allowed!, now)).toBeUndefined()
    expect(claudeLimit(rejected!, now)).toEqual({
      reason: 'usage-limit',
      until: reset,
      detail: 'rate_limit_event: five_hour',
    })
    expect(claudeLimit(rejected!.replace('"isUsingOverage":false', '"isUsingOverage":true'), now)).toBeUndefined()
    expect(claudeLimit('{"type":"rate_limit_event"', now)).toBeUndefined()
  })

  test('the hook of a failed turn names its limit', () => {
    const { failure } = actOf(claude.hooks!, 'StopFailure', JSON.parse(read('claude-stop-failure.json')))
    expect(claudeLimit(failure!, now)).toMatchObject({
      reason: 'usage-limit',
      until: Date.parse('2026-11-27T15:00:00Z'),
    })
    const of = (error: string) => claudeLimit(actOf(claude.hooks!, 'StopFailure', { error }).failure!, now)
    expect(of('rate_limit')?.reason).toBe('rate-limit')
    expect(of('billing_error')).toMatchObject({ reason: 'spend-cap', until: null })
    expect(of('server_error')).toBeUndefined()
  })

  test.each([
    ['Claude AI usage limit reached|1795777200', reset],
    ['5-hour limit reached ∙ resets 11am (UTC)', reset],
    ["You've hit your limit · resets 8:30am (UTC)", Date.parse('2026-11-28T08:30:00Z')],
    ["You've hit your weekly limit · resets Dec 2, 9pm (Africa/Johannesburg)", Date.parse('2026-12-02T19:00:00Z')],
    ["You've hit your weekly limit", now + hourMs],
  ])('%s', (line, until) => {
    expect(claudeLimit(line, now)).toMatchObject({ reason: 'usage-limit', until })
  })

  test('a balance that is too low waits for a person', () => {
    expect(claudeLimit('Credit balance is too low', now)).toMatchObject({ reason: 'spend-cap', until: null })
    expect(claudeLimit('the rate limit of the API is described in limits.md', now)).toBeUndefined()
  })
})

describe('OpenCode', () => {
  test('a retry that is far away is a limit until then; one that is near, and work, are none', () => {
    const [busy, near, far] = lines('opencode-events.jsonl').map((line) => JSON.parse(line).properties.status)
    expect(opencodeRetryLimit(busy, now)).toBeUndefined()
    expect(opencodeRetryLimit(near, now)).toBeUndefined()
    expect(opencodeRetryLimit(far, now)).toEqual({
      reason: 'usage-limit',
      until: reset,
      detail: 'Free usage exceeded, add credits https://opencode.ai/zen',
    })
    expect(opencodeRetryLimit({ ...far, message: 'Too Many Requests' }, now)?.reason).toBe('rate-limit')
    expect(opencodeRetryLimit({ ...far, next: 'soon' }, now)).toBeUndefined()
  })

  test('a line of its output', () => {
    expect(opencodeLimit('Error: Free usage exceeded, add credits https://opencode.ai/zen', now)?.reason).toBe(
      'usage-limit',
    )
    expect(opencodeLimit('Error: Too Many Requests', now)?.reason).toBe('rate-limit')
    expect(opencodeLimit('done', now)).toBeUndefined()
  })
})

// Z.ai, in whichever harness it serves: read in public threads.
test.each([
  [
    '{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-27 19:01:25"}}',
    '2026-11-27T11:01:00Z',
  ],
  [
    'API Error: 429 Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-12-01T00:00:00Z',
    '2026-12-01T00:00:00Z',
  ],
])('%s', (line, until) => {
  for (const limitIn of [claudeLimit, opencodeLimit]) {
    expect(limitIn(line, now)).toMatchObject({ reason: 'usage-limit', until: Date.parse(until) })
  }
})

test.each([
  ['reset at 2026-11-27T15:00:00Z', '2026-11-27T15:00:00Z'],
  ['resets on 2026-11-28 08:30 UTC', '2026-11-28T08:30:00Z'],
  ['try again at 2026-11-27T15:00:00.000+02:00', '2026-11-27T13:00:00Z'],
  ['try again after 2026-11-27T15:00:00-0500', '2026-11-27T20:00:00Z'],
  ['resets 3pm (UTC)', '2026-11-27T15:00:00Z'],
  ['resets 3pm (Europe/Berlin)', '2026-11-27T14:00:00Z'],
  ['resets 8am (UTC)', '2026-11-28T08:00:00Z'],
  ['resets 12am (UTC)', '2026-11-28T00:00:00Z'],
  ['try again at Nov 28th, 2026 12:30 PM (UTC)', '2026-11-28T12:30:00Z'],
  ['resets Jan 4 at 9pm (UTC)', '2027-01-04T21:00:00Z'],
  ['resets 15:00 (UTC)', '2026-11-27T15:00:00Z'],
  ['resets 3pm (Nowhere/Land)', '2026-11-27T10:00:00Z'],
  ['resets Xyz 4, 9pm (UTC)', '2026-11-27T10:00:00Z'],
  ['later', '2026-11-27T10:00:00Z'],
])('%s', (text, at) => {
  expect(new Date(resetIn(text, now)).toISOString()).toBe(new Date(at).toISOString())
})
