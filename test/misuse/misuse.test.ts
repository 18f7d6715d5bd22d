import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { numberFromEnv } from '../faults/random.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { engine } from '../support/store.ts'
import { until } from '../support/until.ts'
import { type AttackName, attacks } from './attacks.ts'
import { startDeafNameServer } from './deaf-name-server.ts'
import { type Feelings, Victims } from './victims.ts'

const seconds = numberFromEnv('ROUSE_MISUSE_SECONDS', 10)
const rounds = numberFromEnv('ROUSE_MISUSE_ROUNDS', 3)
/** What any attack may make of a machine that is shared with it; the ratio itself is printed. */
const memoryMaxMb = 900
const diskMaxMb = 2_500
const attackMaxMs = 1_800_000

const rows: string[] = []
afterAll(() => {
  const head =
    '| attack | send p50 | send p99 | ratio | wake p50 | wake p99 | ratio | read p99 | ratio | memory | disk |'
  console.log(
    [`misuse on ${engine}: quiet → attacked, ms`, head, head.replaceAll(/[^|]+/g, ' --- '), ...rows].join('\n'),
  )
})

const names = Object.keys(attacks) as AttackName[]
test.each(names)('one agent that %s harms nobody else', { timeout: attackMaxMs }, async (attack) => {
  await using nameServer = await startDeafNameServer()
  const env = { ROUSE_LOG_LEVEL: 'error', ROUSE_NAME_SERVERS: nameServer.address }
  await using gateway = await startProcessGateway(env)
  const { key } = await gateway.addAgent('@mallory')
  await using victims = await Victims.settle(gateway)
  await victims.feel(3)

  const quiet: Feelings[] = []
  const attacked: Feelings[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(await victims.feel(seconds))
    const attacker = await startAttacker(attack, gateway, key)
    attacked.push(await victims.feel(seconds))
    await attacker.stop()
  }
  rows.push(row(attack, quiet, attacked, gateway))
  expect(await victims.subscriptionStatus()).toBe('active')
  expect(peakMb(gateway.pid)).toBeLessThan(memoryMaxMb)
  expect(diskMb(gateway.dataDir)).toBeLessThan(diskMaxMb)
  const ended = await gateway.kill('SIGTERM')
  expect([ended.code, ended.stderr.includes('process.failed')]).toEqual([0, false])
})

async function startAttacker(attack: AttackName, gateway: ProcessGateway, key: string) {
  const target = { url: gateway.url, grpcTarget: gateway.grpcTarget, key, handle: 'mallory' }
  const script = resolve(import.meta.dirname, 'attacker-process.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify({ attack, target })], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise((done) => child.once('close', done))
  await until(
    () => said,
    (text) => text.includes('ready'),
    60_000,
  )
  return {
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function row(attack: string, quiet: Feelings[], attacked: Feelings[], gateway: ProcessGateway): string {
  const of = (all: Feelings[], kind: keyof Feelings, part: number) => {
    const sorted = all.flatMap((feelings) => feelings[kind]).sort((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  }
  const both = (kind: keyof Feelings, part: number) => [of(quiet, kind, part), of(attacked, kind, part)] as const
  const told = ([before, after]: readonly [number, number]) => `${before.toFixed(1)} → ${after.toFixed(1)}`
  const ratio = ([before, after]: readonly [number, number]) => `${(after / before).toFixed(2)} ×`
  const cells = [
    attack,
    told(both('send', 0.5)),
    told(both('send', 0.99)),
    ratio(both('send', 0.99)),
    told(both('wake', 0.5)),
    told(both('wake', 0.99)),
    ratio(both('wake', 0.99)),
    told(both('read', 0.99)),
    ratio(both('read', 0.99)),
    `${peakMb(gateway.pid)} MB`,
    `${diskMb(gateway.dataDir)} MB`,
  ]
  return `| ${cells.join(' | ')} |`
}

/** The most memory that the process has held. */
function peakMb(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

function diskMb(directory: string): number {
  const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  return Math.round(bytes / 1024 / 1024)
}
