import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { saveConnection } from '../../../src/cli/mcp/connections.ts'
import { atTestEnd } from '../../support/ends.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { startReceiver } from '../../support/receiver.ts'
import { onPostgres } from '../../support/store.ts'
import { untilStatus } from '../../wakes/acts.ts'
import { type Home, makeHome } from '../install/homes.ts'

/** A program that answers what a test says, to the request of a number. */
const script = (answers: Record<number, object>, version: string) => `#!${process.execPath}
if (process.argv.includes('--version')) { console.log(${JSON.stringify(version)}); process.exit(0) }
const answers = ${JSON.stringify(answers)}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line)
  if (answers[id]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[id] }))
})
`

const greeting = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'rouse', version: '1' } }

const hooksOf = (trustStatus: string) => ({
  data: [{ hooks: [{ command: 'rouse hook codex Stop', trustStatus, enabled: true }] }],
})

/** A home with a gateway's profile, and with programs in its PATH, in which Codex is installed for the folder. */
async function codexHome(programs: Record<string, string>): Promise<{ home: Home; key: string; gateway: TestGateway }> {
  const gateway = await startGateway()
  atTestEnd(() => gateway[Symbol.asyncDispose]())
  const { key } = await gateway.addAgent('@donna')
  const home = makeHome()
  atTestEnd(() => home[Symbol.dispose]())
  const donna = { url: gateway.url, key, identity: '@donna' }
  home.write('.config/rouse/profiles.json', JSON.stringify({ current: 'donna', profiles: { donna } }))
  for (const [name, text] of Object.entries(programs)) chmodSync(home.write(`bin/${name}`, text), 0o755)
  home.env.PATH = home.at('bin')
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(home.path)
  atTestEnd(() => cwd.mockRestore())
  expect(await home.rouse('install', 'codex', '--scope', 'project', '--profile', 'donna')).toMatchObject({ code: 0 })
  return { home, key, gateway }
}

function mcpSessionsIn({ dataDir }: TestGateway): unknown {
  const db = new Sqlite(join(dataDir, 'rouse.db'), { readonly: true })
  try {
    return db.prepare('select count(*) from mcp_session').pluck().get()
  } finally {
    db.close()
  }
}

test('where all of it works, it says what it found, and ends with 0', async () => {
  const codex = script({ 1: {}, 2: hooksOf('trusted') }, 'codex-cli 0.169.0')
  const { home, key } = await codexHome({ codex, rouse: script({ 1: greeting }, '1') })
  const { code, stdout, stderr } = await home.rouse('doctor')
  expect([code, stderr]).toEqual([0, ''])
  for (const found of [
    /gateway: +http\S+ is ready/,
    /key: +of @donna \(profile donna\)/,
    /session: +none is live/,
    /program: +codex-cli 0\.169\.0/,
    /config\.toml: MCP server/,
    /hooks\.json: 5 hooks/,
    /rouse mcp: +answers \(MCP 2025-06-18\)/,
    /trust in the hooks: +all 1 are trusted/,
    /Nothing is broken\./,
  ]) {
    expect(stdout).toMatch(found)
  }
  expect(stdout).not.toContain(key)
})

test('it says what the last connection of a harness was, also for programs', async () => {
  const { home } = await codexHome({ rouse: script({ 1: greeting }, '1') })
  expect((await home.rouse('doctor', 'codex')).stdout).toMatch(/last connection: +none yet/)
  const connection = {
    client: 'codex-mcp-client 0.169.0',
    era: '2025',
    protocolVersion: '2025-06-18',
    channel: 'the client is not Claude Code',
    sessionId: 'session_1',
    at: '2026-04-26T10:00:00.000Z',
  } as const
  saveConnection(home.env, 'donna', 'codex', connection)
  expect((await home.rouse('doctor', 'codex')).stdout).toMatch(
    /last connection: +codex-mcp-client 0\.169\.0 at 2026-04-26T10:00:00\.000Z; era 2025 \(MCP 2025-06-18\); channel: the client/,
  )
  const { harnesses } = JSON.parse((await home.rouse('doctor', 'codex', '--json')).stdout)
  expect(harnesses[0].lastConnections).toEqual([{ ...connection, profile: 'donna' }])
})

test('with --http it greets the gateway with the key of its environment, leaves nothing, and never tells the key', async () => {
  const { home, key, gateway } = await codexHome({})
  await home.rouse('uninstall', 'codex', '--scope', 'project')
  expect(await home.rouse('install', 'codex', '--http', '--scope', 'project')).toMatchObject({ code: 0 })
  expect((await home.rouse('doctor', 'codex')).stdout).toMatch(
    /MCP over HTTP: +not tried: .*ROUSE_KEY[\s\S]*mend: +read -r ROUSE_KEY </,
  )
  home.env.ROUSE_KEY = key
  const works = await home.rouse('doctor', 'codex')
  expect(works.stdout).toMatch(/MCP over HTTP: +http\S+\/mcp answers \(MCP 2025-11-25\)/)
  expect(works.stdout).not.toContain(key)
  expect((await gateway.call('GET', '/v1/sessions')).body.sessions).toEqual([])
  if (!onPostgres) expect(mcpSessionsIn(gateway)).toBe(0)
  home.env.ROUSE_KEY = 'rk_wrong'
  const refused = await home.rouse('doctor', 'codex')
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/MCP over HTTP: +http\S+ refuses ROUSE_KEY of here: 401/),
  ])
  expect(refused.stdout).not.toContain('rk_wrong')
})

test('what is broken is named with the command that mends it, and it ends with 1', async () => {
  const codex = script({ 1: {}, 2: hooksOf('untrusted') }, 'codex-cli 0.169.0')
  const { home } = await codexHome({ codex, rouse: '#!/bin/sh\necho "no such command" >&2; exit 2\n' })
  home.write('.codex/hooks.json', home.read('.codex/hooks.json').replace('"timeout": 10', '"timeout": 11'))
  home.write(
    '.config/rouse/profiles.json',
    home.read('.config/rouse/profiles.json').replace(/"key":"[^"]+"/, '"key":"rk_wrong"'),
  )
  const { code, stdout } = await home.rouse('doctor', 'codex', '--json')
  const report = JSON.parse(stdout)
  expect([code, report.ok]).toEqual([1, false])
  const all = [...report.profiles, ...report.harnesses].flatMap(({ checks }) => checks)
  const broken = all.filter(({ state }: { state: string }) => state === 'broken')
  expect(broken).toEqual([
    expect.objectContaining({ name: 'key', mend: expect.stringContaining('rouse login --profile donna --url http') }),
    expect.objectContaining({ name: 'file', mend: 'rouse install codex --scope project' }),
    expect.objectContaining({
      name: 'rouse mcp',
      detail: expect.stringMatching(/ended: no such command/),
      mend: 'rouse install codex --scope project',
    }),
    expect.objectContaining({ name: 'trust in the hooks', mend: expect.stringContaining('Hooks need review') }),
  ])
})

test('a gateway that does not answer, a server that is not there, and a file that does not parse', async () => {
  using home = makeHome()
  await home.rouse('install', 'opencode')
  home.write('.config/opencode/opencode.json', `${home.read('.config/opencode/opencode.json')}}`)
  const { code, stdout } = await home.rouse('doctor')
  expect(code).toBe(1)
  expect(stdout).toMatch(/BROKEN {2}gateway: .*\n.*mend: +rouse serve/)
  expect(stdout).toMatch(/BROKEN {2}file: .*opencode\.json:\d+:\d+: /)
})

test('without an installation there is nothing to be broken; a named harness is a usage error', async () => {
  using home = makeHome()
  home.write('.config/rouse/profiles.json', '{"profiles":{}}')
  expect(await home.rouse('doctor')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Rouse is installed in no harness\. Begin with a profile: rouse login .*rouse bridge init\n$/,
    ),
  })
  const { code, stderr } = await home.rouse('doctor', 'codex')
  expect([code, stderr]).toEqual([2, expect.stringContaining('rouse install codex --dry-run')])
})

test('for an operator it looks at the subscriptions, and at no harness', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('@donna')
  using home = makeHome()
  const office = { url: gateway.url, key: gateway.adminKey, identity: '@operator' }
  home.write('.config/rouse/profiles.json', JSON.stringify({ current: 'office', profiles: { office } }))
  const well = await home.rouse('doctor')
  expect([well.code, well.stdout]).toEqual([0, expect.stringMatching(/subscriptions: +0, none is degraded\n\nNothing/)])
  expect(well.stdout).not.toMatch(/session|installed/)
  await using receiver = await startReceiver((_, res) => void res.writeHead(404).end())
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'a turn')
  await untilStatus(gateway, donna, id, 'degraded')
  const { code, stdout } = await home.rouse('doctor')
  expect(code).toBe(1)
  expect(stdout).toMatch(/BROKEN +subscriptions: +degraded: @donna TASK_STATE_CHANGED \(http-404\)\n/)
  expect(stdout).toContain(`rouse sub update ${id} --status active`)
})
