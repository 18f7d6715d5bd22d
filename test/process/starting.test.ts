import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { HttpServer } from '../../src/fronts/http/http-server.ts'
import { smallFileSystem } from '../faults/little-room.ts'
import { runRouse, startProcessGateway } from '../support/process-gateway.ts'
import { buildWords } from '../support/program/rouse-words.ts'
import { startReceiver } from '../support/receiver.ts'
import { onPostgres } from '../support/store.ts'
import { until } from '../support/until.ts'

const scratch = mkdtempSync(join(tmpdir(), 'rouse-starting-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

// On PostgreSQL a second gateway is a peer.
test.skipIf(onPostgres)('a second gateway on a data directory is refused, and the first one continues', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('@donna')
  await gateway.subscribe(donna, receiver.url)

  const second = await refused(['--data-dir', gateway.dataDir, '--port', '0'])
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`Another gateway is running on ${gateway.dataDir}`)
  expect(second.stderr).not.toContain('    at ')

  const { id } = await gateway.send(donna, 'still there?')
  expect((await receiver.waitFor(1))[0]!.body.payload.taskId).toBe(id)
})

test('a port in use is named, with the remedy, and a failed start does not prevent the next one', async () => {
  await using other = new HttpServer()
  const { port } = new URL(await other.listen('127.0.0.1', 0))
  const dataDir = join(scratch, 'port')
  const second = await refused(['--data-dir', dataDir, '--port', port])
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`Port ${port} is taken`)
  expect(second.stderr).toContain('rouse serve --port')
  const argv = ['serve', '--json', '--data-dir', dataDir, '--port', '0', '--grpc-port', '0']
  await using next = runRouse(argv, {}, buildWords())
  // The log may have its line first.
  const { stderr } = await until(next.output, ({ stdout }) => stdout.includes('"url"'))
  expect(stderr).not.toContain('"level":"error"')
})

test('all problems of a configuration are reported', async () => {
  const ended = await refused([], {
    ROUSE_PORT: '70000',
    ROUSE_ADMIN_KEY: 'short',
    ROUSE_ENCRYPTION_KEY: 'bm90IDMyIGJ5dGVz',
    ROUSE_WEBHOOK_ALLOW: '10.0.0.0/8, nonsense',
    ROUSE_PUBLIC_URL: 'ftp://rouse.example',
    ROUSE_LOG_LEVEL: 'loud',
    ROUSE_BLOCKING_TIMEOUT: 'soon',
    ROUSE_DATA_DIR: join(scratch, 'never-made'),
  })
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  for (const name of ['PORT', 'ADMIN_KEY', 'ENCRYPTION_KEY', 'WEBHOOK_ALLOW', 'PUBLIC_URL', 'LOG_LEVEL']) {
    expect(ended.stderr).toContain(`ROUSE_${name}`)
  }
  expect(ended.stderr).toContain('ROUSE_BLOCKING_TIMEOUT')
})

describe('a data directory that cannot be used', () => {
  test('it is a file', async () => {
    const dataDir = join(scratch, 'a-file')
    writeFileSync(dataDir, 'not a directory')
    await expectNamed(dataDir)
  })

  test('its parent is a file', async () => {
    const file = join(scratch, 'below')
    writeFileSync(file, 'not a directory')
    await expectNamed(join(file, 'data'))
  })

  test.skipIf(onPostgres)('its user may not write there', async ({ skip }) => {
    if (process.getuid?.() === 0) return skip('Root may write everywhere.')
    const dataDir = mkdtempSync(join(scratch, 'closed-'))
    chmodSync(dataDir, 0o500)
    expect((await expectNamed(dataDir)).stderr).toContain('Make it writable for this user')
  })

  test.skipIf(onPostgres)('its file system is read-only, or full', async ({ skip }) => {
    using room = smallFileSystem()
    if (!room) return skip('This user or this system cannot mount a file system.')
    const { dataDir } = room
    const first = await startProcessGateway({}, { dataDir })
    await first.kill('SIGTERM')
    execFileSync('mount', ['-o', 'remount,ro', dataDir])
    for (const path of [dataDir, join(dataDir, 'new')]) {
      expect((await expectNamed(path)).stderr).toContain('Make it writable for this user')
    }
    execFileSync('mount', ['-o', 'remount,rw', dataDir])
    room.fill(first)
    expect((await expectNamed(dataDir)).stderr).toContain('no free space')
  })

  test('the store is not a database', async () => {
    const dataDir = mkdtempSync(join(scratch, 'store-'))
    writeFileSync(join(dataDir, 'rouse.db'), 'this is no database, however long it may be. '.repeat(200))
    await expectNamed(dataDir)
  })
})

async function expectNamed(dataDir: string) {
  const ended = await refused(['--data-dir', dataDir, '--port', '0'])
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain(dataDir)
  expect(ended.stderr).not.toContain('Another gateway')
  expect(ended.stderr).not.toContain('    at ')
  return ended
}

async function refused(argv: readonly string[], env: Record<string, string> = {}) {
  await using gateway = runRouse(['serve', '--json', '--grpc-port', '0', ...argv], env)
  return await gateway.exited
}
