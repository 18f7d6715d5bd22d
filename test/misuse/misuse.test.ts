import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { numberFromEnv } from '../faults/random.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { engine } from '../support/store.ts'
import { type AttackName, attacks } from './attacks.ts'
import { startDeafNameServer } from './deaf-name-server.ts'
import { Others, type Waits } from './others.ts'
import { peakMb } from './peak-memory.ts'

const seconds = numberFromEnv('ROUSE_MISUSE_SECONDS', 5)
const chosen = process.env.ROUSE_MISUSE_ATTACKS?.split(',')

/** The bar, in ms: the p99 of each, but the longest of the mails. */
const waitMax = { send: 50, read: 50, wake: 100, chunk: 50, mail: 1_000 } as const
const loopMaxMs = 250
const memoryMaxMb = 512

const attackMaxMs = 300_000
const readyMaxMs = 120_000
/** As the image and the systemd unit set it. */
const deployedMemory = { MALLOC_MMAP_THRESHOLD_: '33554432', MALLOC_TRIM_THRESHOLD_: '134217728' }

const kinds = Object.keys(waitMax) as (keyof Waits)[]
const rows = [`| attack | ${kinds.join(' | ')} | loop | memory |`, `| --- |${' --- |'.repeat(kinds.length + 2)}`]
afterAll(() => console.log([`misuse on ${engine}, ${seconds} s each, quiet → attacked, ms`, ...rows].join('\n')))

/** The waits of the others, and the longest piece of work of the gateway's event loop meanwhile. */
type Felt = Record<keyof Waits | 'loop', number>

const names = (Object.keys(attacks) as AttackName[]).filter((name) => !chosen || chosen.includes(name))
test.each(names)('beside one agent that %s the others are served', { timeout: attackMaxMs }, async (attack) => {
  await using nameServer = await startDeafNameServer()
  const directory = mkdtempSync(join(tmpdir(), 'rouse-misuse-'))
  const loopFile = join(directory, 'loop')
  writeFileSync(loopFile, '')
  const env = {
    ROUSE_LOG_LEVEL: 'error',
    ROUSE_NAME_SERVERS: nameServer.address,
    // As on a network: on loopback the attacker's address may be that of a proxy. Connections are as many as without this.
    ROUSE_CONNECTIONS_PER_ADDRESS: '10000',
    NODE_OPTIONS: `--import ${resolve(import.meta.dirname, 'loop-pieces.mjs')}`,
    MISUSE_LOOP_FILE: loopFile,
    ...deployedMemory,
  }
  await using gateway = await startProcessGateway(env, { words: rouseWords([]) })
  await using others = await Others.settle(gateway)
  const feel = async (): Promise<Felt> => {
    const begin = Date.now()
    const waits = await others.work(seconds)
    const felt = kinds.map((kind) => [kind, percentile(waits[kind], kind === 'mail' ? 1 : 0.99)])
    return { ...Object.fromEntries(felt), loop: longestPiece(loopFile, begin) }
  }
  await others.work(3)
  const quiet = await feel()
  const stop = await startAttacker(attack, gateway, others)
  const attacked = await feel()
  await stop()

  const cells = [...kinds, 'loop' as const].map((kind) => `${quiet[kind].toFixed(1)} → ${attacked[kind].toFixed(1)}`)
  const memory = peakMb(gateway.pid)
  rows.push(`| ${[attack, ...cells, `${memory} MB`].join(' | ')} |`)
  console.log(rows.at(-1))
  const status = await others.subscriptionStatus()
  const ended = await gateway.kill('SIGTERM')
  rmSync(directory, { recursive: true })
  expect(others.refusals).toEqual([])
  const missed = kinds
    .filter((kind) => !(attacked[kind] <= waitMax[kind]))
    .map((kind) => `${kind} ${attacked[kind]} ms`)
  expect(missed).toEqual([])
  expect(attacked.loop).toBeLessThanOrEqual(loopMaxMs)
  expect(memory).toBeLessThanOrEqual(memoryMaxMb)
  expect(status).toBe('active')
  expect([ended.code, ended.stderr.includes('process.failed')]).toEqual([0, false])
})

/** Starts an attacker while the others are at work, and waits until it is ready. Returns its end. */
async function startAttacker(attack: AttackName, gateway: ProcessGateway, others: Others) {
  const { key } = await gateway.addAgent('@mallory')
  const target = { url: gateway.url, grpcTarget: gateway.grpcTarget, key, handle: 'mallory' }
  const words = ['--import', 'tsx', resolve(import.meta.dirname, 'attacker.ts'), JSON.stringify({ attack, target })]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise((done) => child.once('close', done))
  let isReady = false
  child.stdout.once('data', () => (isReady = true))
  for (const giveUpAt = performance.now() + readyMaxMs; !isReady; await others.work(0.5)) {
    if (performance.now() > giveUpAt || child.exitCode !== null) {
      child.kill('SIGKILL')
      throw new Error(`The attacker ${attack} was not ready in time.`)
    }
  }
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}

/** The value below which a part of the samples lies. */
function percentile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Pieces below 10 ms are not written down: 0. */
function longestPiece(file: string, since: number): number {
  const pieces = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(' ').map(Number))
  return Math.max(0, ...pieces.filter(([at = 0]) => at > since).map(([, ms = 0]) => ms))
}
