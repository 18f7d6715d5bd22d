import { expect, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import type { ProcessGateway } from '../support/process-gateway.ts'
import { readLog } from '../support/process-ledger.ts'
import { startReceiver } from '../support/receiver.ts'
import { runSql } from '../support/store.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { Inbox } from './inbox.ts'
import { tell } from './insist.ts'
import { forgotten, Load } from './load.ts'
import { addIdle, watchAgents } from './many-subscriptions.ts'
import { numberFromEnv, seededRandom } from './random.ts'
import { balance } from './watch.ts'

const seed = numberFromEnv('FAULTS_SEED', 1)
const subscriptionCount = 10_000
/** Agents that are written to, with five subscriptions each. */
const busyCount = 40
const pauses = numberFromEnv('FAULTS_PAUSES', 3)
/** After this time the other gateways have taken over. */
const deadMs = 20_000
/** Until a load balancer has seen that a gateway does not answer. */
const noticedMs = 500

test('three gateways are killed and paused, and PostgreSQL restarts: each wake arrives, in order', {
  timeout: 600_000,
}, async () => {
  const postgres = await startPostgres()
  await using _postgres = { [Symbol.asyncDispose]: () => postgres.stop() }
  const slowness = seededRandom(seed + 1)
  const inbox = new Inbox()
  await using prompt = await startReceiver(inbox.answering())
  await using slow = await startReceiver(inbox.answering(() => slowness() * 40))
  await using fleet = await startFleet([postgres.url, postgres.url, postgres.url])
  const { client, gateways } = fleet
  const { agents, watches } = await watchAgents(client, busyCount, [prompt.url, slow.url])
  expect(await addIdle(postgres.url, subscriptionCount, watches[0]!)).toBe(subscriptionCount)
  const senders = agents.map((to, i) => (i % 2 ? { to } : { to, from: agents[i + 1]! }))
  const load = new Load(client, { senders, pauseMs: 1_000, harness: agents[0]! })
  inbox.onWake = load.onWake

  const faults = new Faults(fleet, postgres)
  await faults.run()
  await load.stop()

  const notes = [
    `seed ${seed} · 3 gateways, ${subscriptionCount} subscriptions, ${watches.length} of them under load`,
    `${faults.kills} kills, ${pauses} pauses beyond ${deadMs} ms, 2 restarts of PostgreSQL · ${load.acceptedCount} messages accepted`,
    tell(load.trouble),
  ]
  const rows = await balance('three gateways', { client, inbox, watches }, notes)
  expect(rows.filter(({ failed }) => failed > 0)).toEqual([])
  expect(load.contradictions).toEqual([])
  expect(await forgotten(client, load.acknowledged)).toEqual([])
  // A message that was sent again under its key, through another gateway, was taken once.
  const taken = (await readLog(client)).filter(({ type }) => type === 'message.sent')
  expect(taken).toHaveLength(load.acceptedCount)
  expect([...load.trouble.keys()].filter((kind) => /: 5(?!03)\d\d /.test(kind))).toEqual([])
  for (const gateway of gateways) expect(await readiness(gateway)).toBe(200)
})

test('a gateway that is cut off from PostgreSQL reports it, and the others do its work', {
  timeout: 300_000,
}, async () => {
  const postgres = await startPostgres()
  await using _postgres = { [Symbol.asyncDispose]: () => postgres.stop() }
  const { hostname, port } = new URL(postgres.url)
  await using cable = await startTcpProxy({ host: hostname, port: Number(port) })
  const throughCable = postgres.url.replace(`:${port}/`, `:${cable.port}/`)
  const inbox = new Inbox()
  await using receiver = await startReceiver(inbox.answering())
  await using fleet = await startFleet([throughCable, postgres.url, postgres.url])
  const { client, gateways, away } = fleet
  const [cutOff, ...others] = gateways as [ProcessGateway, ...ProcessGateway[]]
  const { agents, watches } = await watchAgents(client, 4, [receiver.url])
  const load = new Load(client, { senders: agents.map((to) => ({ to })), pauseMs: 100, harness: agents[0]! })
  inbox.onWake = load.onWake
  await until(
    () => load.acceptedCount,
    (count) => count >= 100,
  )

  cable.silence()
  const startedAt = performance.now()
  expect(await readiness(cutOff)).toBe(503)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  away.add(cutOff)
  const acceptedBefore = load.acceptedCount
  await pause(deadMs)
  await takenOver(postgres.url)
  for (const gateway of others) expect(await readiness(gateway)).toBe(200)
  expect(await readiness(cutOff)).toBe(503)
  expect(load.acceptedCount).toBeGreaterThan(acceptedBefore)

  cable.accept()
  await until(
    () => readiness(cutOff),
    (status) => status === 200,
    30_000,
  )
  away.delete(cutOff)
  const joinedAt = load.acceptedCount
  await until(
    () => load.acceptedCount,
    (count) => count >= joinedAt + 100,
    30_000,
  )
  await load.stop()
  const notes = [`cut off beyond ${deadMs} ms · ${load.acceptedCount} messages accepted`, tell(load.trouble)]
  await balance('a gateway that is cut off', { client, inbox, watches }, notes)
  expect(load.contradictions).toEqual([])
  expect(await forgotten(client, load.acknowledged)).toEqual([])
})

/** Kills and pauses side by side, and restarts the server twice; each has a random sequence of its own. */
class Faults {
  kills = 0
  readonly #taken = new Set<ProcessGateway>()
  readonly #fleet: Fleet
  readonly #postgres: { readonly url: string; restart(): Promise<void> }
  #over = false

  constructor(fleet: Fleet, postgres: { readonly url: string; restart(): Promise<void> }) {
    this.#fleet = fleet
    this.#postgres = postgres
  }

  async run(): Promise<void> {
    const pausing = this.#pauseAgainAndAgain(seededRandom(seed)).finally(() => (this.#over = true))
    await Promise.all([pausing, this.#killAgainAndAgain(seededRandom(seed + 2)), this.#restartTwice()])
  }

  async #pauseAgainAndAgain(random: () => number): Promise<void> {
    for (let i = 0; i < pauses; i++) {
      await pause(2_000 + random() * 3_000)
      const gateway = await this.#take(random)
      gateway.signal('SIGSTOP')
      await pause(deadMs + random() * 4_000)
      await takenOver(this.#postgres.url)
      gateway.signal('SIGCONT')
      this.#giveBack(gateway)
    }
  }

  async #killAgainAndAgain(random: () => number): Promise<void> {
    while (!this.#over) {
      await pause(2_000 + random() * 4_000)
      const gateway = await this.#take(random)
      // A process that ended without a kill is a failure.
      expect(await gateway.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL', stderr: '' })
      this.kills++
      await revive(gateway)
      this.#giveBack(gateway)
    }
  }

  async #restartTwice(): Promise<void> {
    for (const afterMs of [12_000, 35_000]) {
      await pause(afterMs)
      await this.#postgres.restart()
    }
  }

  /** One that nothing happens to, out of at least two. It is found out by the clients a moment later. */
  async #take(random: () => number): Promise<ProcessGateway> {
    const { gateways, away } = this.#fleet
    const present = await until(
      () => gateways.filter((gateway) => !this.#taken.has(gateway)),
      ({ length }) => length > 1,
      60_000,
    )
    const gateway = present[Math.floor(random() * present.length)]!
    this.#taken.add(gateway)
    setTimeout(() => this.#taken.has(gateway) && away.add(gateway), noticedMs)
    return gateway
  }

  #giveBack(gateway: ProcessGateway): void {
    this.#taken.delete(gateway)
    this.#fleet.away.delete(gateway)
  }
}

/** Resolves when the others have removed every gateway that was not seen for too long. */
async function takenOver(databaseUrl: string): Promise<void> {
  const deadline = Date.now() + 60_000
  const unseen = () => runSql(databaseUrl, 'select id from gateway where seen_at < $1', [Date.now() - deadMs])
  // Nothing is known while the server restarts.
  while ((await unseen().catch(() => [undefined])).length > 0) {
    if (Date.now() > deadline) throw new Error('Nobody takes over.')
    await pause(500)
  }
}

/** A gateway cannot start while there is no store. */
async function revive(gateway: ProcessGateway): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    try {
      return await gateway.restart()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

async function readiness(gateway: ProcessGateway): Promise<number> {
  return (await gateway.call('GET', '/readyz')).status
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
