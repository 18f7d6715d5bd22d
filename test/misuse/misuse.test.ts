import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { numberFromEnv } from '../faults/random.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { besideStore, engine, onPostgres } from '../support/store.ts'
import { type AttackName, attacks } from './attacks.ts'
import { startDeafNameServer } from './deaf-name-server.ts'
import { type LoopDelay, LoopDelayReader } from './loop-delay.ts'
import { attackerWords, separate, separateServer, separation } from './places.ts'
import { percentileOf, ratioInterval } from './ratio-interval.ts'
import { ThreadClock } from './thread-clock.ts'
import { type Feelings, Victims, type Wait } from './victims.ts'

const seconds = numberFromEnv('ROUSE_MISUSE_SECONDS', 5)
const rounds = numberFromEnv('ROUSE_MISUSE_ROUNDS', 4)
const chosen = process.env.ROUSE_MISUSE_ATTACKS?.split(',')
/** How many times as long the others may wait at p99. The run fails where the whole interval of the ratio is above that. */
const ratioMax = 1.2
/** What any attack may make of a machine that is shared with it: the p99 of a send may rise by so much. */
const riseMaxMs = 50
const memoryMaxMb = 900
const diskMaxMb = 2_500
const attackMaxMs = 1_800_000
/** Large tasks are taken as slowly as the rate for them allows. */
const readyMaxMs = 180_000

/** As the image and the systemd unit set it. */
const deployedMemory = { MALLOC_MMAP_THRESHOLD_: '33554432', MALLOC_TRIM_THRESHOLD_: '134217728' }

/** After an attack, before the next window: what removed agents have left is deleted meanwhile. */
const restSeconds = 2

/** The time between two looks whether an attacker is ready. */
const lookSeconds = 0.5

const kinds = ['send', 'wake', 'read'] as const

let attackers = 0
const rows: string[] = []
afterAll(() => {
  const head =
    '| attack | send p50 | send p99 | send thread | wake p50 | wake p99 | wake thread | read p50 | read p99 | read thread | loop p99 | loop max | busy | memory | disk |'
  console.log(
    [
      `misuse on ${engine}: quiet → attacked, ms; ${rounds} × ${seconds} s each; ${separation}`,
      head,
      head.replaceAll(/[^|]+/g, ' --- '),
      ...rows,
    ].join('\n'),
  )
})

/** A window in which the others felt something, and the gateway's loop in it. */
interface Window {
  readonly feelings: Feelings
  readonly loop: LoopDelay
  /** The part of the time in which the gateway's main thread worked. */
  readonly busy: number
}

const names = (Object.keys(attacks) as AttackName[]).filter((name) => !chosen || chosen.includes(name))
test.each(names)('one agent that %s harms nobody else', { timeout: attackMaxMs }, async (attack) => {
  await using nameServer = await startDeafNameServer()
  const directory = mkdtempSync(join(tmpdir(), 'rouse-misuse-'))
  const reader = new LoopDelayReader(join(directory, 'loop.json'))
  const env = { ROUSE_LOG_LEVEL: 'error', ROUSE_NAME_SERVERS: nameServer.address, ...deployedMemory, ...reader.env }
  await using gateway = await startProcessGateway(env, { words: rouseWords([]) })
  separate(gateway.pid)
  if (onPostgres) {
    const [backend] = await besideStore(gateway.dataDir, 'select pg_backend_pid() as pid')
    separateServer(Number(backend!.pid))
  }
  await using victims = await Victims.settle(gateway)
  await victims.feel(3)
  const clock = new ThreadClock(gateway.pid)

  const window = async (): Promise<Window> => {
    await reader.take(gateway)
    const begin = clock.now()
    const feelings = await victims.feel(seconds)
    const end = clock.now()
    const busy = (end.worked - begin.worked) / (end.at - begin.at)
    return { feelings, loop: await reader.take(gateway), busy }
  }
  await attackOnce(attack, gateway, victims)
  await countRows(gateway.dataDir)
  const quiet: Window[] = []
  const attacked: Window[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(await window())
    const attacker = await startAttacker(attack, gateway, victims)
    attacked.push(await window())
    await attacker.stop()
    await victims.feel(restSeconds)
  }
  const disk = await diskMb(gateway.dataDir)
  rows.push(row(attack, quiet, attacked, { memory: peakMb(gateway.pid), disk }))
  console.log(rows.at(-1))
  expect(percentile(attacked, 'send', 'clock', 0.99) - percentile(quiet, 'send', 'clock', 0.99)).toBeLessThan(riseMaxMs)
  for (const kind of kinds) expect([kind, intervalOf(quiet, attacked, kind)[0] <= ratioMax]).toEqual([kind, true])
  expect(await victims.subscriptionStatus()).toBe('active')
  expect(peakMb(gateway.pid)).toBeLessThan(memoryMaxMb)
  expect(disk).toBeLessThan(diskMaxMb)
  const ended = await gateway.kill('SIGTERM')
  rmSync(directory, { recursive: true })
  expect([ended.code, ended.stderr.includes('process.failed')]).toEqual([0, false])
})

/** What an attack needs is loaded and compiled by its first use, once in the life of a gateway. */
async function attackOnce(attack: AttackName, gateway: ProcessGateway, victims: Victims): Promise<void> {
  const attacker = await startAttacker(attack, gateway, victims)
  await victims.feel(seconds)
  await attacker.stop()
  await victims.feel(restSeconds)
}

/** PostgreSQL counts the rows of a new store within its first minute, and plans again. Here it does so before the first window. */
async function countRows(dataDir: string): Promise<void> {
  if (onPostgres) await besideStore(dataDir, 'analyze')
}

/**
 * Starts an attacker while the others are at work, and waits until it is ready. Each one is a new agent, which is removed with it: the
 * wakes that wait for it are not the quiet of the next window.
 */
async function startAttacker(attack: AttackName, gateway: ProcessGateway, victims: Victims) {
  const handle = `mallory-${++attackers}`
  const { key } = await gateway.addAgent(`@${handle}`)
  const target = { url: gateway.url, grpcTarget: gateway.grpcTarget, key, handle }
  const script = resolve(import.meta.dirname, 'attacker-process.ts')
  const words = [...attackerWords, process.execPath, '--import', 'tsx', script, JSON.stringify({ attack, target })]
  const child = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise((done) => child.once('close', done))
  const giveUpAt = performance.now() + readyMaxMs
  while (!said.includes('ready')) {
    if (performance.now() > giveUpAt) throw new Error(`The attacker ${attack} was not ready in time.`)
    await victims.feel(lookSeconds)
  }
  return {
    async stop() {
      child.kill('SIGTERM')
      await ended
      expect((await gateway.call('DELETE', `/v1/agents/${handle}`)).status).toBe(200)
    },
  }
}

function percentile(all: Window[], kind: keyof Feelings, clock: keyof Wait, part: number): number {
  return percentileOf(samplesOf(all, kind, clock), part)
}

function samplesOf(all: Window[], kind: keyof Feelings, clock: keyof Wait): number[] {
  return all.flatMap(({ feelings }) => feelings[kind].map((wait) => wait[clock]))
}

/** The interval of the ratio of two p99. */
function intervalOf(quiet: Window[], attacked: Window[], kind: keyof Feelings, clock: keyof Wait = 'clock') {
  return ratioInterval(samplesOf(quiet, kind, clock), samplesOf(attacked, kind, clock), 0.99)
}

function row(attack: string, quiet: Window[], attacked: Window[], use: { memory: number; disk: number }): string {
  const most = (all: Window[], kind: keyof LoopDelay) => Math.max(...all.map(({ loop }) => loop[kind]))
  const percent = (all: Window[]) => Math.round((100 * all.reduce((sum, { busy }) => sum + busy, 0)) / all.length)
  const comparison = (before: number, after: number) => `${before.toFixed(1)} → ${after.toFixed(1)}`
  const both = (kind: keyof Feelings, clock: keyof Wait, part: number) => {
    const [before, after] = [percentile(quiet, kind, clock, part), percentile(attacked, kind, clock, part)]
    if (part < 0.99) return comparison(before, after)
    const [least, most] = intervalOf(quiet, attacked, kind, clock)
    return `${comparison(before, after)} (${(after / before).toFixed(2)} ×, ${least.toFixed(1)}–${most.toFixed(1)})`
  }
  const cells = [
    attack,
    ...kinds.flatMap((kind) => [both(kind, 'clock', 0.5), both(kind, 'clock', 0.99), both(kind, 'thread', 0.99)]),
    comparison(most(quiet, 'p99'), most(attacked, 'p99')),
    comparison(most(quiet, 'max'), most(attacked, 'max')),
    `${percent(quiet)} → ${percent(attacked)} %`,
    `${use.memory} MB`,
    `${use.disk} MB`,
  ]
  return `| ${cells.join(' | ')} |`
}

/** The most memory that the process has held. */
function peakMb(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

/** What the store takes: the files of SQLite, or the tables of PostgreSQL with their indices. */
async function diskMb(directory: string): Promise<number> {
  const files = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  const [tables] = onPostgres ? await besideStore(directory, tableBytes) : []
  return Math.round((files + Number(tables?.bytes ?? 0)) / 1024 / 1024)
}

const tableBytes = `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
  where relkind = 'r' and relnamespace = current_schema()::regnamespace`
