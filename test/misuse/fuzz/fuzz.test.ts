import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { numberFromEnv, seededRandom } from '../../faults/random.ts'
import { startProcessGateway } from '../../support/process-gateway.ts'
import { engine } from '../../support/store.ts'
import { BodyFuzzer } from './body-fuzzer.ts'
import { GrpcFuzzer } from './grpc-fuzzer.ts'
import { grpcOperations } from './grpc-operations.ts'
import { dice } from './hostile-values.ts'
import { HttpFuzzer, left } from './http-fuzzer.ts'
import { httpOperations } from './http-operations.ts'
import type { Shot } from './shot.ts'
import { SocketFuzzer } from './socket-fuzzer.ts'
import { populate } from './world.ts'

const requests = numberFromEnv('ROUSE_FUZZ_REQUESTS', 50_000)
const seed = numberFromEnv('ROUSE_FUZZ_SEED', Math.floor(Math.random() * 2 ** 31))
const lanes = 6
const hangMs = 3_000
/** A try of a receiver waits for the receiver, at most this. */
const webhookMs = 1_000
const runMaxMs = 1_800_000

/** Limits of rate would answer in the place of what is tried. */
const env = {
  ROUSE_BLOCKING_TIMEOUT: '0',
  ROUSE_WEBHOOK_TIMEOUT: String(webhookMs / 1_000),
  ROUSE_MESSAGES_PER_MINUTE: '0',
  ROUSE_STORM_TURNS: '0',
  ROUSE_STORM_MESSAGES: '0',
  ROUSE_WRONG_KEYS_PER_MINUTE: '0',
  ROUSE_LOG_LEVEL: 'error',
}

test('every request is right before something about it is changed', async () => {
  await using gateway = await startProcessGateway(env)
  const world = await populate(gateway)
  const chances = dice(seededRandom(seed))
  await using http = new HttpFuzzer(gateway.url, world, chances)
  using grpc = new GrpcFuzzer(gateway.grpcTarget, world, chances)
  const wrong: string[] = []
  const check = ({ what, status, answer }: Shot, isRefused = false): void => {
    const succeeds = (status === left || (status >= 200 && status < 300)) && !saysError(answer)
    if (succeeds === isRefused || status >= 500) wrong.push(`${what}: ${status} ${answer.slice(0, 300)}`)
  }
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: world.mallory.key })
  for (const operation of httpOperations) check(await http.sendRight(operation), operation.isRefused)
  for (const operation of grpcOperations) check(await grpc.sendRight(operation))
  expect(wrong).toEqual([])
})

/** JSON-RPC and MCP say so in an answer that succeeds. */
const saysError = (answer: string): boolean => /^{"jsonrpc":"2.0",("id":[^,]*,)?"error"|"isError":true/.test(answer)

const name = `${requests} hostile requests find no 5xx, no hang, no growth and nothing of anybody else's`
test(name, { timeout: runMaxMs }, async () => {
  console.log(`fuzz on ${engine}: seed ${seed} (ROUSE_FUZZ_SEED), ${requests} requests (ROUSE_FUZZ_REQUESTS)`)
  await using gateway = await startProcessGateway(env)
  const world = await populate(gateway)
  const chances = dice(seededRandom(seed))
  await using http = new HttpFuzzer(gateway.url, world, chances)
  const bodies = new BodyFuzzer(gateway.url, world, chances)
  const sockets = new SocketFuzzer(gateway.url, world, chances)
  using grpc = new GrpcFuzzer(gateway.grpcTarget, world, chances)

  const faults: string[] = []
  const statuses = new Map<number, number>()
  const memory: number[] = []
  const durations: number[] = []
  let slowest: Shot | undefined
  let fired = 0
  const lane = async (): Promise<void> => {
    while (fired < requests && faults.length < 50) {
      const way = chances.roll()
      const shot = await (way < 0.14 ? grpc : way < 0.2 ? bodies : way < 0.25 ? sockets : http).fire()
      // A request that the client itself refuses to make was never sent.
      if (shot.status === 0) continue
      if (++fired % Math.ceil(requests / 30) === 0) memory.push(residentMb(gateway.pid))
      durations.push(shot.ms)
      statuses.set(shot.status, (statuses.get(shot.status) ?? 0) + 1)
      if (slowest === undefined || shot.ms > slowest.ms) slowest = shot
      const fault = faultOf(shot, world.canary)
      if (fault)
        faults.push(`${fault}: ${shot.what} ${Math.round(shot.ms)} ms\n  ${shot.sent}\n  ${shot.answer.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))

  const [early, late] = [memory.slice(8, 15), memory.slice(-7)].map((samples) => Math.min(...samples))
  console.log(
    [
      `${fired} requests: ${[...statuses]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', ')}`,
      `p50 ${quantile(durations, 0.5)} ms, p99 ${quantile(durations, 0.99)} ms, slowest ${Math.round(slowest?.ms ?? 0)} ms (${slowest?.what})`,
      `resident memory ${early} MB in the first half, ${late} MB at the end`,
    ].join('\n'),
  )
  expect(faults).toEqual([])
  expect(await world.harm()).toEqual([])
  expect(late! - early!).toBeLessThan(120)
  expect((await gateway.call('GET', '/readyz')).status).toBe(200)
  expect(({} as { polluted?: true }).polluted).toBeUndefined()
  const ended = await gateway.kill('SIGTERM')
  expect(ended.code).toBe(0)
  // It logs errors alone, and each is a fault of its own.
  expect(ended.stderr.split('\n').filter((line) => line.startsWith('{'))).toEqual([])
})

function faultOf(shot: Shot, canary: string): string | undefined {
  if (shot.status === -1) return 'no answer'
  if (shot.status >= 500) return `a ${shot.status}`
  // JSON-RPC and MCP say so in an answer that succeeds, and a stream says it in an event.
  // The OpenAPI document names the error.
  const isDocument = /^\{\s*"openapi"/.test(shot.answer)
  if (shot.status < 300 && !isDocument && /Internal error|"code":-32603/.test(shot.answer)) return 'an internal error'
  if (shot.answer.includes(canary)) return 'data of somebody else'
  const patience = shot.what === 'subscription.test' ? hangMs + webhookMs * 2 : hangMs
  return shot.ms > patience ? 'a hang' : undefined
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)
}

function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}
