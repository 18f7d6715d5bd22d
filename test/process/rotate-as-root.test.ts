import { spawnSync } from 'node:child_process'
import { chownSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { runRouse, startProcessGateway } from '../support/process-gateway.ts'
import { buildWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'

/** A user that owns nothing else. */
const nobody = 65_534

/** Only root can start a process as another user, who must be able to read the program. Elsewhere the report shows this as skipped. */
function canRunAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false
  const reads = `require('node:fs').readFileSync(${JSON.stringify(words.at(-1))})`
  return spawnSync(process.execPath, ['-e', reads], { uid: nobody, gid: nobody }).status === 0
}

const words = buildWords()

describe.skipIf(!canRunAsNobody())('commands of root beside a gateway of another user (needs root)', () => {
  test('a leaked admin key ends, the new one is valid, the card key changes, and the gateway starts again', async () => {
    using directory = dataDirectory()
    chownSync(directory.path, nobody, nobody)
    // The store is the embedded one: on PostgreSQL the keys are rows.
    const env = { ROUSE_DATABASE_URL: '', HOME: directory.path }
    await using gateway = await startProcessGateway(env, { dataDir: directory.path, user: nobody, words })
    const url = `http://127.0.0.1:${gateway.port}`
    const keyNow = () => readFileSync(join(directory.path, 'admin.key'), 'utf8').trim()
    const statusWith = async (key: string) =>
      (await fetch(`${url}/v1/agents`, { headers: { authorization: `Bearer ${key}` } })).status
    const old = keyNow()
    expect(await statusWith(old)).toBe(200)
    for (const argv of [
      ['admin-key', 'rotate', '--overlap', '0'],
      ['card-key', 'rotate', '--now', '--keep-days', '0'],
    ]) {
      await using command = runRouse([...argv, '--data-dir', directory.path], env)
      expect(await command.exited).toMatchObject({ code: 0 })
    }
    expect(await statusWith(keyNow())).toBe(200)
    await until(
      () => statusWith(old),
      (status) => status === 401,
    )
    // The gateway takes their records too.
    await until(
      () => readdirSync(join(directory.path, 'audit-waiting')).length,
      (count) => count === 0,
    )
    const names = readdirSync(directory.path, { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => statSync(join(directory.path, name)).uid !== nobody)).toEqual([])
    await gateway.kill('SIGTERM')
    await gateway.restart()
    expect(await statusWith(keyNow())).toBe(200)
  })

  test('a gateway that may not read its key names the file and the remedy, and no port', async () => {
    using directory = dataDirectory()
    chownSync(directory.path, nobody, nobody)
    const env = { ROUSE_DATABASE_URL: '', HOME: directory.path }
    await using gateway = await startProcessGateway(env, { dataDir: directory.path, user: nobody, words })
    await gateway.kill('SIGTERM')
    const path = join(directory.path, 'admin.key')
    chownSync(path, 0, 0)
    await expect(gateway.restart()).rejects.toThrow(`chown ${nobody} ${path}`)
  })

  test('a gateway runs as a user that has no line in passwd, as containers do', async () => {
    using directory = dataDirectory()
    const unknown = 54_321
    chownSync(directory.path, unknown, unknown)
    const env = { ROUSE_DATABASE_URL: '', HOME: directory.path }
    await using gateway = await startProcessGateway(env, { dataDir: directory.path, user: unknown, words })
    expect((await gateway.call('GET', '/readyz')).status).toBe(200)
  })
})
