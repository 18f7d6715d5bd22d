import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { atFileEnd } from '../support/ends.ts'
import { rouseWords } from '../support/program/rouse-words.ts'

const folder = mkdtempSync(join(tmpdir(), 'rouse-lost-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A gateway whose log is a pipe. */
async function start() {
  const argv = ['serve', '--json', '--port', '0', '--data-dir', mkdtempSync(join(folder, 'data-'))]
  const gateway = spawn(process.execPath, [...rouseWords(), ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ROUSE_LOG_LEVEL: 'debug' },
  })
  atFileEnd(() => gateway.kill('SIGKILL'))
  const ended = once(gateway, 'exit')
  let printed = ''
  for await (const part of gateway.stdout.iterator({ destroyOnReturn: false })) {
    printed += part
    if (printed.includes('\n')) break
  }
  const { url } = JSON.parse(printed)
  return { gateway, ended, url: url as string }
}

/** A key that is not known is logged at once. */
async function tryUnknownKey(url: string): Promise<void> {
  const headers = { authorization: 'Bearer rk_unknown' }
  const { status } = await fetch(`${url}/v1/whoami`, { headers, signal: AbortSignal.timeout(30_000) })
  expect(status).toBe(401)
}

test('a gateway whose log nobody reads any more answers, and ends', async () => {
  const { gateway, ended, url } = await start()
  gateway.stderr.destroy()
  for (let time = 0; time < 3; time++) await tryUnknownKey(url)
  gateway.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

/** More than a pipe holds. */
const requests = 1_000
async function fill(url: string): Promise<void> {
  for (let time = 0; time < requests; time += 50) {
    const answers = Array.from({ length: 50 }, () => fetch(`${url}/healthz`, { signal: AbortSignal.timeout(30_000) }))
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
  }
}

test('a gateway whose log is not read for a while answers, and its lines come later', async () => {
  const { gateway, ended, url } = await start()
  await fill(url)
  await tryUnknownKey(url)
  let log = ''
  gateway.stderr.setEncoding('utf8').on('data', (part) => (log += part))
  gateway.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const of = (text: string): number => log.split('\n').filter((line) => line.includes(text)).length
  expect([of('/healthz'), of('auth.failed'), log.length > 100_000]).toEqual([requests, 1, true])
})

test('a gateway whose log is never read ends', async () => {
  const { gateway, ended, url } = await start()
  await fill(url)
  gateway.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
