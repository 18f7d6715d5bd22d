import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { writeProfiles } from '../../src/client/profile-file.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { atTestEnd } from '../support/ends.ts'
import { freshBuild } from '../support/fresh-build.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const root = resolve(import.meta.dirname, '../..')

/** The folder of a harness that nothing else knows. */
const parrot = {
  'harness.js': `
    import { join } from 'node:path'
    import { hooks, json, server, serverWords } from '../entries.js'
    import { homeOf } from '../places.js'
    const home = (place) => join(homeOf(place), '.parrot')
    export const parrot = {
      id: 'parrot', title: 'Parrot', binary: 'parrot', surface: 'parrot_bird', clientName: /^polly/, home,
      install: {
        scopes: ['user'], http: false, next: ['Feed it.'],
        files: (_scope, wanted) => [json(join(home(wanted.place), 'parrot.json'), 'MCP server, hooks', [
          server(['servers'], serverWords(wanted)),
          ...hooks('parrot', ['WakesUp'], wanted, (command) => ({ command })),
        ])],
      },
      hooks: {
        acts: { wakesup: { state: 'idle', tellsMail: true } }, prompt: 'speaks',
        contextOutput: (_event, text) => ({ squawk: text }),
      },
      adapter: async () => (await import('./adapter.js')).row,
    }`,
  'adapter.js': `
    import { appendFileSync } from 'node:fs'
    import { join } from 'node:path'
    export const row = { id: 'parrot', title: 'Parrot', proves: ['turn_started'], settings: {}, create: ({ directories: [cwd], env }) => ({
      probe: async () => ({ isThere: true, remarks: [], sessions: [{ harness: 'parrot', conversationId: 'p', cwd, state: 'idle', route: 'perch' }] }),
      wake: async (_session, { text }, tools) => {
        await tools.handingOver('perch')
        appendFileSync(join(env.HOME, 'heard.txt'), text)
        return { step: 'turn_started', detail: 'it squawks' }
      },
      find: async () => 'unknown',
      [Symbol.asyncDispose]: async () => {},
    }) }`,
}

/** The build, with one more folder, and one more line. */
function buildWith(path: string): string {
  const built = freshBuild()
  if (built === undefined) throw new Error('There is no fresh build: npm run build.')
  cpSync(join(root, 'dist'), join(path, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(path, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  const folder = join(path, 'dist/harnesses/parrot')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(parrot)) writeFileSync(join(folder, name), text)
  appendFileSync(join(path, 'dist/harnesses/table.js'), "export { parrot } from './parrot/harness.js'\n")
  return join(path, 'dist/main.js')
}

function makeUser(
  home: string,
  { url }: TestGateway,
  { key }: TestAgent,
): (...argv: string[]) => ReturnType<typeof start> {
  const env = { HOME: home, PATH: '' }
  const profile = { url, key, identity: '@donna' }
  writeProfiles({ current: 'donna', byName: new Map([['donna', profile]]) }, env)
  const main = buildWith(home)
  return (...argv) => start(env, main, argv)
}

/** Starts Rouse as a program. `printed`: what it has written to standard output. */
function start(env: Record<string, string>, main: string, argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv], { env, cwd: env.HOME! })
  atTestEnd(() => void child.kill('SIGKILL'))
  const run = { child, printed: '', complained: '', ended: once(child, 'close').then(([code]) => code as number) }
  child.stdout.on('data', (text) => (run.printed += text))
  child.stderr.on('data', (text) => (run.complained += text))
  return run
}

test('a harness that is one folder and one line is installed, heard, recognised and woken', async () => {
  using home = dataDirectory()
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const rouse = makeUser(home.path, gateway, donna)
  const whole = async (...argv: string[]) => {
    const run = rouse(...argv)
    run.child.stdin.end()
    expect([await run.ended, run.complained]).toEqual([0, ''])
    return run.printed
  }

  expect(await whole('install')).toContain('Parrot')
  expect(await whole('install', 'parrot')).toContain('Feed it.')
  const written = JSON.parse(readFileSync(join(home.path, '.parrot/parrot.json'), 'utf8'))
  expect(written.servers.rouse.args).toContain('mcp')
  expect(written.hooks.WakesUp[0].command).toContain(' hook parrot WakesUp')

  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'next_turn' })
  const hook = rouse('hook', 'parrot', 'WakesUp')
  hook.child.stdin.end(`{"session_id":"p","cwd":"${home.path}"}\n`)
  await hook.ended
  expect(JSON.parse(hook.printed).squawk).toContain('"Hello"')
  const surfaceNow = async () => (await gateway.call('GET', '/v1/sessions')).body.sessions[0].surface
  expect(await surfaceNow()).toBe('parrot_bird')

  const polly = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'polly-1', version: '1' } }
  const mcp = rouse('mcp')
  const say = (message: object) => mcp.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  say({ id: 1, method: 'initialize', params: polly })
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/call', params: { name: 'whoami', arguments: {} } })
  await until(
    () => mcp.printed,
    (printed) => printed.includes('"id":2'),
  )
  mcp.child.stdin.end()
  await mcp.ended
  expect(JSON.parse(await whole('doctor', 'parrot', '--json')).harnesses[0].lastConnections).toMatchObject([
    { client: 'polly-1 1', profile: 'donna' },
  ])

  await whole('bridge', 'init', '--directory', home.path)
  const config = JSON.parse(readFileSync(join(home.path, '.config/rouse/bridge.json'), 'utf8'))
  expect(config.agents[0].harnesses).toContain('parrot')
  const bridge = rouse('bridge')
  await until(
    () => bridge.complained,
    (text) => text.includes('Bridging'),
  )
  const { body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Wake up' })
  const wakeOf = async () => (await gateway.call('GET', `/v1/messages/${body.messageId}`)).body.recipients[0].wake
  expect(await until(wakeOf, (wake) => wake?.step === 'turn_started')).toMatchObject({
    source: expect.stringContaining('bridge'),
  })
  expect(readFileSync(join(home.path, 'heard.txt'), 'utf8')).toContain('Wake up')
})
