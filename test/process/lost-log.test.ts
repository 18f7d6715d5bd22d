import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atFileEnd } from '../support/ends.ts'
import { rouseWords } from '../support/program/rouse-words.ts'

test('a gateway whose log nobody reads any more answers, and ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rouse-lost-log-'))
  const argv = ['serve', '--json', '--port', '0', '--data-dir', folder]
  const gateway = spawn(process.execPath, [...rouseWords(), ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  atFileEnd(() => gateway.kill('SIGKILL'))
  const ended = once(gateway, 'exit')
  let printed = ''
  for await (const part of gateway.stdout.iterator({ destroyOnReturn: false })) {
    printed += part
    if (printed.includes('\n')) break
  }
  gateway.stderr.destroy()
  const { url } = JSON.parse(printed)
  // A key that is not known is logged at once.
  for (let time = 0; time < 3; time++) {
    const headers = { authorization: 'Bearer rk_unknown' }
    const { status } = await fetch(`${url}/v1/whoami`, { headers, signal: AbortSignal.timeout(30_000) })
    expect(status).toBe(401)
  }
  gateway.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  rmSync(folder, { recursive: true })
})
