import { chmodSync, cpSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { agentPage } from '../answers.ts'
import { startStubGateway } from '../stub-gateway.ts'
import { run } from '../terminal.ts'

const list = ['agent', 'list']

test('the admin key of a data directory goes to the gateway of that directory', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_DATA_DIR: gateway.dataDir }
  expect(await run(list, { ...env, ROUSE_URL: gateway.url })).toMatchObject({ code: 0, stderr: '' })
  const byName = gateway.url.replace('127.0.0.1', 'localhost')
  expect(await run(list, { ...env, ROUSE_URL: byName })).toMatchObject({ code: 0, stderr: '' })
})

test('another program at the address of the gateway gets no key, not even with the proof of the real gateway', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_DATA_DIR: gateway.dataDir }
  await using other = await startGateway()
  await using silent = await startStubGateway({ 'GET /v1/agents': { json: agentPage() } })
  await using relay = await startStubGateway({
    'GET /v1/agents': { json: agentPage() },
    // It asks the real gateway for its proof, and hands that on.
    'GET /.well-known/rouse-instance': ({ query }, response) => {
      request(`${gateway.url}/.well-known/rouse-instance?challenge=${query.challenge}`, (answer) => {
        response.writeHead(answer.statusCode!)
        answer.pipe(response)
      }).end()
      return undefined
    },
  })
  for (const url of [silent.url, relay.url, other.url]) {
    const { code, stderr } = await run(list, { ...env, ROUSE_URL: url })
    expect([code, stderr]).toEqual([1, expect.stringContaining('did not prove to be the gateway of')])
  }
  for (const { requests } of [silent, relay]) {
    expect(requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/.well-known/rouse-instance', undefined],
    ])
  }
})

test('the key of a directory that was named on purpose goes over TLS only', async () => {
  await using gateway = await startGateway()
  const requests: { url: string; key: string | undefined }[] = []
  const fetch = async (url: string, init: { headers: Record<string, string> }) => {
    requests.push({ url, key: init.headers.authorization })
    return new Response('{"agents":[]}') as never
  }
  const env = { ROUSE_DATA_DIR: gateway.dataDir }
  const plain = await run(list, { ...env, ROUSE_URL: 'http://rouse.example' }, { fetch })
  expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining('without TLS')])
  expect(requests).toEqual([])
  expect((await run(list, { ...env, ROUSE_URL: 'https://rouse.example' }, { fetch })).code).toBe(0)
  expect(requests).toEqual([{ url: 'https://rouse.example/v1/agents', key: `Bearer ${gateway.adminKey}` }])
})

test('the key of the default directory is sent only on this machine', async () => {
  const requests: (string | undefined)[] = []
  const fetch = async (_url: string, init: { headers: Record<string, string> }) => {
    requests.push(init.headers.authorization)
    return new Response('{"agents":[]}') as never
  }
  for (const url of ['https://rouse.example', 'http://127.0.0.1.rouse.example']) {
    await run(list, { ROUSE_DATA_DIR: undefined, ROUSE_URL: url }, { fetch })
  }
  expect(requests).toEqual([undefined, undefined])
})

test('an admin key that other users can read is not used', async () => {
  await using gateway = await startGateway()
  using copy = dataDirectory()
  for (const name of ['admin.key', 'instance.key']) cpSync(join(gateway.dataDir, name), join(copy.path, name))
  chmodSync(join(copy.path, 'admin.key'), 0o644)
  const { code, stderr } = await run(list, { ROUSE_DATA_DIR: copy.path, ROUSE_URL: gateway.url })
  expect([code, stderr]).toEqual([1, expect.stringContaining(`chmod 600 ${join(copy.path, 'admin.key')}`)])
})

test('a key comes from a file, standard input or the environment; on the command line it causes a warning', async () => {
  using directory = dataDirectory()
  await using gateway = await startStubGateway({ 'GET /v1/agents': { json: agentPage() } })
  const path = join(directory.path, 'donna.key')
  writeFileSync(path, 'rk_file\n', { mode: 0o600 })
  const env = { ROUSE_URL: gateway.url }
  const quiet = [
    await run([...list, '--key-file', path], { ...env, ROUSE_KEY: 'rk_env' }),
    await run([...list, '--key-file', '-'], env, { stdin: () => 'rk_stdin\n' }),
    await run(list, { ...env, ROUSE_KEY: 'rk_env', ROUSE_KEY_FILE: path }),
    await run(list, { ...env, ROUSE_KEY_FILE: path }),
  ]
  expect(quiet.map(({ code, stderr }) => [code, stderr])).toEqual(quiet.map(() => [0, '']))
  const flag = await run([...list, '--key', 'rk_flag'], env)
  expect([flag.code, flag.stderr]).toEqual([0, expect.stringContaining('--key shows a secret')])
  expect(gateway.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer rk_file',
    'Bearer rk_stdin',
    'Bearer rk_env',
    'Bearer rk_file',
    'Bearer rk_flag',
  ])
  chmodSync(path, 0o644)
  expect((await run(list, { ...env, ROUSE_KEY_FILE: path })).stderr).toContain(`chmod 600 ${path}`)
  expect(statSync(path).mode & 0o777).toBe(0o644)
})

test.each([
  ['that is not there', undefined],
  ['that is empty', '\n'],
  ['with more than a key', 'rk_one\nrk_two\n'],
])('a key file %s is a mistake on the command line', async (_what, text) => {
  using directory = dataDirectory()
  const path = join(directory.path, 'a.key')
  if (text !== undefined) writeFileSync(path, text, { mode: 0o600 })
  const { code, stderr } = await run([...list, '--key-file', path])
  expect([code, stderr]).toEqual([2, expect.stringContaining(path)])
})

test('a password in a URL on the command line is warned of', async () => {
  const flags = ['--from', 'sqlite', '--to', 'postgres', '--database-url', 'postgres://rouse:secret@127.0.0.1:1/rouse']
  const { stderr } = await run(['migrate', ...flags])
  expect(stderr).toContain('the password in --database-url shows a secret')
  expect(stderr).toContain('ROUSE_DATABASE_URL')
  expect(stderr).not.toContain('secret@')
})

test('the proof accepts only a challenge of its own form', async () => {
  await using gateway = await startGateway()
  for (const query of ['', '?challenge=short', `?challenge=${'a'.repeat(65)}`, '?challenge=a&challenge=b']) {
    const { status } = await gateway.call('GET', `/.well-known/rouse-instance${query}`, undefined, { key: null })
    expect(status).toBe(400)
  }
  const { body } = await gateway.call('GET', `/.well-known/rouse-instance?challenge=${'a'.repeat(32)}`, undefined, {
    key: null,
  })
  expect(Object.keys(body)).toEqual(['proof'])
  expect(body.proof).not.toContain(readFileSync(join(gateway.dataDir, 'instance.key'), 'utf8').trim())
})
