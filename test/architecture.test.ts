import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { unusedExports } from './support/unused-exports.ts'

const src = resolve(import.meta.dirname, '../src')

/**
 * The layers of the building, from the ground, and the floors of each. An import points down to another floor, or stays in its folder.
 * Type imports count.
 */
const layers = {
  tools: [['lib', 'limits.ts', 'remedies.ts'], ['errors.ts'], ['logger', 'metrics', 'tracing', 'words']],
  store: [['storage'], ['cluster', 'log', 'security']],
  engine: [['registry'], ['admission', 'turns'], ['wakes']],
  features: [
    [
      'agent-card',
      'approvals',
      'audit',
      'claims',
      'mailbox',
      'mcp-sessions',
      'needs',
      'recovery',
      'sessions',
      'subscriptions',
      'tasks',
      'wake-stream',
      'webhooks',
    ],
    ['push'],
    ['following', 'identity'],
  ],
  gateway: [['fronts'], ['config'], ['gateway']],
  programs: [['client'], ['config-files'], ['bridge'], ['harnesses'], ['cli', 'public'], ['main.ts', 'index.ts']],
}
const building = Object.values(layers).flat()
const floors = new Map(building.flatMap((rooms, floor) => rooms.map((room) => [room, floor])))

// They run as the user's programs, beside harnesses, and never inside a gateway.
const programs = ['main.ts', 'cli', 'bridge', 'config-files', 'harnesses', 'client']

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports = files.flatMap((file) => {
  const text = readFileSync(resolve(src, file), 'utf8')
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!)
  return specifiers.map((specifier) => ({ file, specifier }))
})
const roomOf = (file: string): string => file.split('/')[0]!
const local = imports
  .filter(({ specifier }) => specifier.startsWith('.'))
  .map(({ file, specifier }) => ({ file, target: relative(src, resolve(src, dirname(file), specifier)) }))

test('every folder has a floor', () => {
  expect([...new Set(files.map(roomOf))].sort()).toEqual([...floors.keys()].sort())
})

test('docs/design.md shows the same floors', () => {
  const page = readFileSync(resolve(src, '../docs/design.md'), 'utf8')
  const table = page.slice(page.indexOf('| layer |'))
  const shown = [...table.matchAll(/^\| (\w+) \| (`[^|]+) \|/gm)].map(([, layer, rooms]) => ({
    layer,
    rooms: [...rooms!.matchAll(/`([\w.-]+)\/?`/g)].map(([, room]) => room!),
  }))
  const built = Object.entries(layers).flatMap(([layer, all]) => all.map((rooms) => ({ layer, rooms })))
  expect(shown).toEqual(built.reverse())
})

test('imports point down, never up or sideways', () => {
  const wrong = local.filter(({ file, target }) => {
    const from = roomOf(file)
    const to = roomOf(target)
    return from !== to && floors.get(to)! >= floors.get(from)!
  })
  expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
})

/** The imports that every program may have: its own rooms, tools, and the words that it shares with the gateway. */
const openToPrograms = [
  ...programs,
  'public',
  'index.ts',
  'lib',
  'words',
  'security',
  'errors.ts',
  'limits.ts',
  'logger',
]

/** The programs that import the gateway, and what of it. */
const gatewayOf: readonly (readonly [program: RegExp, gateway: RegExp])[] = [
  // They start a gateway, or work on its store while none runs.
  [/^cli\/operator\//, /./],
  [/^public\/gateway\.ts$/, /^(gateway\/app|config\/config)\.ts$/],
  // The flags of `rouse serve`, and the variables that hold a secret.
  [/^(client\/secret-files|cli\/commands\/serve|cli\/options\/setting-option)\.ts$/, /^config\/settings?\.ts$/],
  // `rouse mcp` is the front of MCP on standard streams.
  [/^cli\/mcp\//, /^fronts\/mcp\//],
  // The types of the REST API.
  [/^client\/route-types\.ts$/, /^fronts\/rest\//],
  // The journal of the bridge is a file of SQLite.
  [/^bridge\/journal\//, /^storage\/(state-file|statement)\.ts$/],
]

test('a program imports the words that it shares with the gateway, and the gateway itself only where it is named here', () => {
  const crossing = local.filter(
    ({ file, target }) =>
      [...programs, 'public', 'index.ts'].includes(roomOf(file)) && !openToPrograms.includes(roomOf(target)),
  )
  const isNamed = (file: string, target: string) =>
    gatewayOf.some(([program, gateway]) => program.test(file) && gateway.test(target))
  const wrong = crossing.filter(({ file, target }) => !isNamed(file, target))
  expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
  const unused = gatewayOf.filter(([program]) => !crossing.some(({ file }) => program.test(file)))
  expect(unused).toEqual([])
})

test('the words need nothing but tools', () => {
  const others = local.filter(
    ({ file, target }) => roomOf(file) === 'words' && !['words', 'lib'].includes(roomOf(target)),
  )
  expect(others).toEqual([])
})

test('no import cycle, types included', () => {
  const edges = new Map<string, string[]>()
  for (const { file, target } of local) edges.set(file, [...(edges.get(file) ?? []), target])
  const cycles: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    state.set(file, 'open')
    for (const next of edges.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of files) visit(file, [])
  expect(cycles).toEqual([])
})

test('only storage opens a database; the bus listens on a connection of its own', () => {
  const engines = new Set(['better-sqlite3', 'pg', 'drizzle-orm/better-sqlite3', 'drizzle-orm/sqlite-core'])
  const users = imports.filter(({ file, specifier }) => engines.has(specifier) && roomOf(file) !== 'storage')
  expect(users.map(({ file }) => file)).toEqual(['cluster/bus/postgres-bus.ts'])
})

test('only security opens a socket to the outside; the programs are clients of their gateway', () => {
  const users = imports.filter(({ specifier }) => specifier === 'undici').map(({ file }) => file)
  expect(users.filter((file) => roomOf(file) !== 'security' && file !== 'client/client-fetch.ts')).toEqual([])
  const fetching = files.filter((file) => /(?<![.\w])fetch\(/.test(readFileSync(resolve(src, file), 'utf8')))
  expect(fetching.filter((file) => !programs.includes(roomOf(file)))).toEqual([])
})

// A harness starts `rouse mcp` at each of its own starts, some of them twice.
test('rouse mcp loads no store, and no tools for operators', () => {
  const loaded = new Set(['cli/mcp/start-mcp.ts'])
  for (const file of loaded) {
    const text = readFileSync(resolve(src, file), 'utf8')
    for (const [, specifier] of text.matchAll(/^(?:import|export) (?!type\b)[^']*from '(\.[^']+)'/gm)) {
      loaded.add(relative(src, resolve(src, dirname(file), specifier!)))
    }
  }
  expect(loaded.size).toBeGreaterThan(50)
  const others = /^(storage|fronts\/mcp\/operator)\/|-store\.ts$/
  expect([...loaded].filter((file) => others.test(file))).toEqual([])
})

// The first takes as long as the rest of a gateway's start, and most gateways never use one of them.
test('a gateway that starts does not load the libraries of MCP, of Prometheus and of OpenTelemetry', () => {
  const loaded = new Set(['gateway/open-gateway.ts'])
  const libraries: string[] = []
  for (const file of loaded) {
    const text = readFileSync(resolve(src, file), 'utf8')
    for (const [, specifier] of text.matchAll(/^(?:import|export) (?!type\b)[^']*from '([^']+)'/gm)) {
      if (specifier!.startsWith('.')) loaded.add(relative(src, resolve(src, dirname(file), specifier!)))
      else if (/^(@modelcontextprotocol\/|@opentelemetry\/|prom-client|web-push)/.test(specifier!)) libraries.push(file)
    }
  }
  expect(loaded.size).toBeGreaterThan(300)
  expect(libraries).toEqual([])
})

test('only the programs see the process', () => {
  const users = files.filter((file) => /(?<![.\w])process\./.test(readFileSync(resolve(src, file), 'utf8')))
  expect(users.filter((file) => !programs.includes(roomOf(file)))).toEqual([])
})

/** The rooms whose time and chance are those of their wire, their disk or their database, and no part of what the gateway decides. */
const ownTime = ['fronts', 'logger', 'metrics', 'public', 'security', 'storage', 'tracing']

/** The files of the other rooms that take time or chance from the process, and what for. */
const timed: Readonly<Record<string, string>> = {
  'admission/overload.ts': 'the delay of the loop, where the world gives none',
  'gateway/app.ts': 'what the world of a gateway does not give',
  'gateway/key-ring.ts': 'new keys',
  'identity/sign-in-codes.ts': 'new codes',
  'mcp-sessions/mcp-session.ts': 'the ids of sessions, which are secrets',
  'registry/followers/follower-store.ts': 'the ids of followers, which are secrets',
  'webhooks/mcp/requests.ts': 'nonces and ids of requests',
  'words/signature.ts': 'new signing keys',
}

test('the time and the chance that the gateway decides by are given to it: the simulation decides them', () => {
  const taken = /Date\.now\(|new Date\(\)|Math\.random|set(Timeout|Interval)\(|performance\.now\(|random(UUID|Bytes)\b/
  const taking = files.filter((file) => {
    const room = roomOf(file)
    if (room === 'lib' || ownTime.includes(room) || programs.includes(room)) return false
    return taken.test(readFileSync(resolve(src, file), 'utf8'))
  })
  expect(taking.sort()).toEqual(Object.keys(timed))
})

test('no time-out is joined with other signals: Node may collect it, and the wait has no end', () => {
  const joining = files.filter((file) => {
    const text = readFileSync(resolve(src, file), 'utf8')
    return /AbortSignal\.any\(/.test(text) && /AbortSignal\.timeout\(\w/.test(text)
  })
  expect(joining).toEqual([])
})

test('one file changes the requests and responses of Node and Express, and says why', () => {
  const change = /setPrototypeOf\(|\.prototype(\.\w+)? = |defineProperty\((?!copy\b)|app\.(request|response)\b/
  const changing = files.filter((file) => change.test(readFileSync(resolve(src, file), 'utf8')))
  expect(changing).toEqual(['fronts/http/express-messages.ts'])
})

test('a file is not asking to be two', () => {
  const long = files.filter((file) => readFileSync(resolve(src, file), 'utf8').split('\n').length > 300)
  expect(long).toEqual([])
})

// A change of these columns ends a lease, or moves a cursor or a status: what may follow from what is decided in one place.
test('only the wake store changes how far a subscription has come, its lease and its status', () => {
  const state =
    /\b(status|reason|failed_in_a_row|\w*_log_id|generation\w*|resume_with_digest|window_until|due_at|lease_owner) =/
  const writers = files.filter((file) => {
    const text = readFileSync(resolve(src, file), 'utf8')
    const changes = text.matchAll(/update subscription\s+set ([^`]*?)(?=\bwhere\b|\bfrom\b|`)/g)
    return [...changes].some(([, columns]) => state.test(columns!))
  })
  expect(writers.filter((file) => !file.startsWith('wakes/store/'))).toEqual([])
  expect(writers).toContain('wakes/store/lease-store.ts')
})

/** Exports for those who are no file of the repository, and types that TypeScript names in the type of another export. */
const exportedForOthers = [
  /^src\/public\/wire\.ts /,
  /^src\/harnesses\/opencode\/adapter\/plugin\/rouse-plugin\.js Rouse$/,
  /^src\/fronts\/rest\/\S+ \w+(Context|View)$/,
  /^src\/identity\/remove-agent\.ts Removal$/,
  /^test\/(harnesses\/adapter-tools\.ts FakeClients|real-harnesses\/fake-model\.ts ModelRequest|real-harnesses\/office\.ts Ended)$/,
  /^test\/(public\/consumer\.ts|openapi\/(wakes|client\/program)\.ts|harnesses\/copilot\/fake-sdk\.mjs) /,
]

test('what is exported is imported by another file', () => {
  const unused = unusedExports(['src', 'test', 'scripts'], ['bench', 'examples', 'vitest.config.ts'])
  expect(unused.filter((name) => !exportedForOthers.some((others) => others.test(name)))).toEqual([])
})
