import { expect, test } from 'vitest'
import { withoutEcho } from '../../src/security/outbound-fetch.ts'

const basic = `Basic ${Buffer.from('lola:a pass/word').toString('base64')}`

test.each([
  ['a bearer key', { Authorization: 'Bearer rk_one-two' }, 'got Bearer rk_one-two!', 'got Bearer [secret]!'],
  ['a token', { 'X-A2A-Notification-Token': 'token-1' }, '{"t":"token-1"}', '{"t":"[secret]"}'],
  [
    'a password, read out of Basic',
    { authorization: basic },
    'no user with a pass/word here',
    'no user with [secret] here',
  ],
  ['one in a URL', { authorization: basic }, '/login?p=a%20pass%2Fword', '/login?p=[secret]'],
  ['one in JSON', { 'x-a2a-notification-token': 'say "it"' }, '{"t":"say \\"it\\""}', '{"t":"[secret]"}'],
  ['one that is cut at the end', { authorization: 'Bearer rk_one-two' }, 'got rk_one-', 'got [secret]'],
  ['nothing of what is public', { 'Content-Type': 'application/json' }, 'application/json', 'application/json'],
  ['nothing short', { 'x-a2a-notification-token': 'a' }, 'a banana', 'a banana'],
])('an answer that repeats %s', (_what, sent, answer, kept) => {
  expect(withoutEcho(answer, sent as Record<string, string>)).toBe(kept)
})
