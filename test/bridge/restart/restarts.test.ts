import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { agentKey } from '../../../src/bridge/config/bridge-config.ts'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import { lookUp, processStart } from '../../../src/bridge/processes.ts'
import { type Recipe, recipeHash } from '../../../src/bridge/restart/recipe.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'
import { RecoveryStub } from '../recovery/recovery-stub.ts'
import { openPlace, startBridge, workplace } from '../run/bridge-desk.ts'
import { replOf } from './repl.ts'

const accountMs = 50
const hasTmux = spawnSync('tmux', ['-V']).status === 0

/** A place whose conversation is closed, with a proven recipe and a gateway that orders. */
async function openSeat(recipe: Partial<Recipe> = {}, env: Record<string, string> = {}) {
  const place = await openPlace({ state: 'unknown' })
  const { home, gateway, donna } = place
  place.harness.sessions = []
  const cwd = workplace(home)
  const repl = replOf({ cwd, gateway, key: donna.key, env, recipe })
  const stub = new RecoveryStub()
  prove(home, gateway.url, repl.recipe)
  const options = { ...place.options, restart: repl.recipe, fetch: stub.fetch, accountMs }
  return { ...place, cwd, repl, stub, options }
}

function prove(home: string, url: string, recipe: Recipe): void {
  using journal = Journal.open({ path: join(home, 'state', 'bridge.db'), now: Date.now, note: () => {} })
  journal.starts.saveProof(agentKey({ profile: { name: 'donna', url, identity: '@donna' } }), recipeHash(recipe))
}

function untilActs(stub: RecoveryStub, count = 1): Promise<RecoveryStub['acts']> {
  return until(
    () => stub.acts,
    (acts) => acts.length >= count,
  )
}

test('an order starts the harness once, in a group of its own, with the text of the boot prompt', async () => {
  await using seat = await openSeat()
  const { stub, repl, cwd } = seat
  await using _bridge = await startBridge(seat.options)
  stub.order = { epoch: 7 }
  await untilActs(stub)
  const [start] = repl.starts()
  const { pid } = start!
  expect(start).toMatchObject({ cwd, profile: 'donna' })
  expect(start).not.toHaveProperty('key')
  expect(start!.prompt).toContain('Rouse has started this session for @donna (restart 7).')
  expect(start!.prompt).toContain('rouse inbox --concept sunset-protocol-handover')
  expect(stub.acts).toEqual([{ epoch: 7, outcome: 'started', pid, startedAt: processStart(pid)!.startedAt }])
  expect(lookUp(pid)!.group).toBe(pid)
  // The order comes again until the session has acted.
  const { length } = stub.accounts
  await until(
    () => stub.accounts,
    (accounts) => accounts.length > length + 3,
  )
  expect(repl.starts()).toHaveLength(1)
  expect(stub.begun).toEqual([7])
  expect(stub.accounts.at(-1)).toMatchObject({ restart: 'proven', harness: 'codex', process: { pid }, seen: true })
})

test.each([
  ['on its standard input', 'stdin', { READS_STDIN: 'yes' }],
  ['in a file', 'file', {}],
] as const)('the boot prompt comes %s', async (_where, prompt, env) => {
  await using seat = await openSeat({ prompt }, env)
  await using _bridge = await startBridge(seat.options)
  seat.stub.order = { epoch: 1 }
  await untilActs(seat.stub)
  const [start] = seat.repl.starts()
  if (prompt === 'stdin') expect(start!.stdin).toMatch(/^Rouse has started this session .*\n1\. .*\n2\. /)
  else expect(start!.prompt).toMatch(/rouse-donna-1\.txt$/)
})

// The environment is not in the command line of tmux, which every user of the machine may read.
test.skipIf(!hasTmux)(
  'a harness that needs a terminal gets one in tmux, with the environment of its recipe',
  async () => {
    const tmux = dataDirectory()
    atTestEnd(() => tmux[Symbol.dispose]())
    await using seat = await openSeat({ terminal: 'tmux' }, { QUOTED: `it's $HOME "x"\n\`y\`` })
    const env = { TMUX_TMPDIR: tmux.path, PATH: process.env.PATH!, ROUSE_KEY: 'rk_of_its_user' }
    await using _bridge = await startBridge({ ...seat.options, env })
    seat.stub.order = { epoch: 3 }
    const [act] = await untilActs(seat.stub)
    const [start] = seat.repl.starts()
    expect(act).toMatchObject({ epoch: 3, outcome: 'started', pid: start!.pid })
    expect(start).toMatchObject({ isTerminal: true, quoted: `it's $HOME "x"\n\`y\``, profile: 'donna', cwd: seat.cwd })
    expect(start).not.toHaveProperty('key')
    expect(lookUp(start!.pid)!.group).toBe(start!.pid)
    const { stdout } = await promisify(execFile)('tmux', ['list-sessions', '-F', '#S'], { env })
    expect(stdout.trim()).toBe('rouse-donna-3')
  },
)

test('a harness that ends at once has not started, and says how it ended', async () => {
  await using seat = await openSeat({ command: ['/bin/sh', '-c', 'exit 3'] })
  await using bridge = await startBridge(seat.options)
  seat.stub.order = { epoch: 1 }
  const [act] = await untilActs(seat.stub)
  expect(act).toMatchObject({
    epoch: 1,
    outcome: 'failed',
    detail: expect.stringMatching(/^it ended within .* s: exit code 3$/),
  })
  expect(await bridge.noted(/restart 1 has failed/)).toContain('exit code 3')
})

test('nothing starts where the gate was closed since the order', async () => {
  await using seat = await openSeat()
  await using bridge = await startBridge(seat.options)
  seat.stub.isClosed = true
  seat.stub.order = { epoch: 1 }
  await bridge.noted(/restart 1 is not begun: The gate is tripped/)
  expect(seat.repl.starts()).toEqual([])
  expect(seat.stub.acts).toEqual([])
})

test('a recipe that is not proven, or has changed since, starts nothing', async () => {
  await using seat = await openSeat()
  const restart = { ...seat.repl.recipe, command: [...seat.repl.recipe.command, '--other'] }
  await using _bridge = await startBridge({ ...seat.options, restart })
  await until(
    () => seat.stub.accounts,
    (accounts) => accounts.length > 0,
  )
  expect(seat.stub.accounts[0]).toMatchObject({ restart: 'unproven' })
  seat.stub.order = { epoch: 1 }
  const [act] = await untilActs(seat.stub)
  expect(act).toEqual({ epoch: 1, outcome: 'refused', detail: 'its recipe is not proven: rouse recovery prove @donna' })
  expect(seat.repl.starts()).toEqual([])
})

test('a harness that a person has opened here is neither ended nor doubled', async () => {
  await using seat = await openSeat()
  seat.harness.set({ cwd: seat.cwd, process: { pid: process.pid, startedAt: processStart(process.pid)!.startedAt } })
  await using _bridge = await startBridge(seat.options)
  seat.stub.order = { epoch: 1 }
  const [act] = await untilActs(seat.stub)
  expect(act).toMatchObject({ outcome: 'refused', detail: expect.stringContaining(`process ${process.pid}`) })
  expect(seat.stub.begun).toEqual([])
  expect(seat.repl.starts()).toEqual([])
})

test('the next order ends what was started before, even if it does not listen, and then starts', async () => {
  await using seat = await openSeat({}, { STUBBORN: 'yes' })
  await using _bridge = await startBridge(seat.options)
  seat.stub.order = { epoch: 1 }
  await untilActs(seat.stub)
  seat.stub.order = { epoch: 2 }
  await untilActs(seat.stub, 2)
  const [first, second] = seat.repl.starts()
  expect(seat.repl.running()).toEqual([second!.pid])
  expect(first!.pid).not.toBe(second!.pid)
})

test('a bridge that starts again adopts the process in which the session lives', async () => {
  await using seat = await openSeat()
  {
    await using _bridge = await startBridge(seat.options)
    seat.stub.order = { epoch: 1 }
    await untilActs(seat.stub)
    seat.stub.order = null
  }
  const { pid } = seat.repl.starts()[0]!
  await using bridge = await startBridge(seat.options)
  expect(await bridge.noted(/adopted/)).toContain(`process ${pid}`)
  await until(
    () => seat.stub.accounts.at(-1),
    (account) => account?.starts === 3,
  )
  expect(seat.stub.accounts.at(-1)).toMatchObject({ process: { pid } })
  expect(seat.repl.running()).toEqual([pid])
})

test('a bridge that starts again ends what it has started and no session speaks from, before anything else', async () => {
  await using seat = await openSeat({}, { SILENT: 'yes' })
  {
    await using _bridge = await startBridge(seat.options)
    seat.stub.order = { epoch: 1 }
    await untilActs(seat.stub)
  }
  expect(seat.repl.running()).toHaveLength(1)
  // The same order still stands.
  await using bridge = await startBridge(seat.options)
  await bridge.noted(/ended: the process \d+/)
  expect(seat.repl.running()).toEqual([])
  const { length } = seat.stub.accounts
  await until(
    () => seat.stub.accounts,
    (accounts) => accounts.length > length + 2,
  )
  expect(seat.repl.starts()).toHaveLength(1)
})

test('while the gateway does not answer, what was started before is left as it is', async () => {
  await using seat = await openSeat({}, { SILENT: 'yes' })
  {
    await using _bridge = await startBridge(seat.options)
    seat.stub.order = { epoch: 1 }
    await untilActs(seat.stub)
  }
  await using gone = await startBridge(
    { ...seat.options, fetch: async () => Promise.reject(new Error('ECONNREFUSED')) },
    { isConnected: false },
  )
  await gone.noted(/No gateway|ECONNREFUSED/)
  expect(seat.repl.running()).toHaveLength(1)
})
