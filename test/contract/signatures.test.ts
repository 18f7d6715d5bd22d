import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { verifyWake } from '../../src/words/signature.ts'
import { type Files, listFolders, readFolder } from './fixture.ts'
import { nowSeconds as sentAt } from './wake-inputs.ts'

// Verifies the folders from their files only, with this code and with the library of the standard.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe.each(listFolders().filter((folder) => folder.startsWith('wakes/')))('%s', (folder) => {
  test('is genuine', () => {
    expect(judge(readFolder(folder), 'secret.txt', sentAt)).toEqual(verdicts('accept', 'accept'))
  })
})

describe.each(listFolders().filter((folder) => folder.startsWith('webhooks/signature/')))('%s', (folder) => {
  const files = readFolder(folder)
  const { nowSeconds, 'standard-webhooks': standard, 'x-neo-wake': neo } = JSON.parse(files['verdict.json']!)
  test.each(Object.keys(files).filter((name) => name.endsWith('secret.txt')))('gets its verdict with %s', (secret) => {
    expect(judge(files, secret, nowSeconds)).toEqual(verdicts(standard, neo))
  })
})

type Verdict = 'accept' | 'reject'

function judge(files: Files, secret: string, nowSeconds: number) {
  const [body, key] = [files['body.json']!, files[secret]!]
  const headers = JSON.parse(files['headers.json']!)
  const verify = (scheme: 'standard-webhooks' | 'x-neo-wake'): Verdict =>
    verifyWake({ body, headers, keys: [key], nowSeconds, scheme }).ok ? 'accept' : 'reject'
  vi.setSystemTime(nowSeconds * 1000)
  return {
    'standard-webhooks': verify('standard-webhooks'),
    'x-neo-wake': verify('x-neo-wake'),
    'the library': verifyByLibrary(body, headers, key),
  }
}

function verifyByLibrary(body: string, headers: Record<string, string>, key: string): Verdict {
  try {
    new Webhook(key).verify(body, headers)
    return 'accept'
  } catch {
    return 'reject'
  }
}

function verdicts(standard: Verdict, neo: Verdict) {
  return { 'standard-webhooks': standard, 'x-neo-wake': neo, 'the library': standard }
}
