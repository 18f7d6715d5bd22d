import { certificate } from './certificate.mjs'
import { roomCosts } from './cpu-profile.mjs'
import { busyShare } from './machine.mjs'
import { cpuSeconds } from './proc.mjs'
import { ask, nextMessage, startNode, stopProcess } from './processes.mjs'
import { Unavailable } from './unavailable.mjs'
import { makeTargets, nowUs, receiverCount } from './work.mjs'

const services = {
  redis: () => import('./redis.mjs'),
  postgres: () => import('./postgres.mjs'),
}

/**
 * One engine does one piece of work, alone: its service, its receivers and its sender are started for it and stopped
 * after it. Answers what every process did, or `{ unavailable }` with the reason why the engine cannot be run here.
 */
export async function measure(engine, work, { timed = false, pathOf, deadPort, profile, tls } = {}) {
  const busy = await busyShare()
  let service
  let receiver
  let sender
  try {
    const files = tls ? certificate() : undefined
    receiver = startNode('./receiver.mjs', [String(receiverCount), ...(files ? [files.key, files.cert] : [])])
    const { ports } = await nextMessage(receiver)
    if (deadPort) ports[ports.length - 1] = deadPort
    const origins = ports.map((port) => `${tls ? 'https' : 'http'}://127.0.0.1:${port}`)
    if (!engine) throw new Error('No such engine: bench/lib/engines.mjs has their names.')
    if (engine.service) service = await (await services[engine.service]()).start(engine.serviceSettings)
    const execArgv = profile ? ['--cpu-prof', '--cpu-prof-dir', profile] : []
    const env = files ? { ...process.env, NODE_EXTRA_CA_CERTS: files.cert } : process.env
    sender = startNode('./sender.mjs', [], { execArgv, env })
    // More gateways have more clients, and each has its own way to its working temperature.
    const { gateways = 1 } = engine.settings ?? {}
    const inFlight = gateways * (engine.inFlight ?? work.inFlight)
    const warmUp = gateways * (work.warmUp ?? 0)
    sender.send({
      module: engine.module,
      settings: engine.settings ?? {},
      targets: makeTargets(origins, pathOf),
      service: service?.address,
      work: { ...work, inFlight, warmUp, deadPort },
    })
    await nextMessage(sender)
    const run = { busy, ...(await observe({ sender, receiver, service, timed, work })) }
    // Gateways in processes of their own write profiles of their own.
    const isAlone = gateways === 1 && !engine.settings?.share
    if (profile && isAlone) run.costs = roomCosts(profile, sender.pid, run.interval, run.cpu.sender)
    return run
  } catch (error) {
    if (error instanceof Unavailable) return { unavailable: error.message }
    throw error
  } finally {
    if (sender) await stopProcess(sender)
    await service?.stop()
    if (receiver) await stopProcess(receiver)
  }
}

async function observe({ sender, receiver, service, timed, work }) {
  await ask(receiver, { reset: { timed, keep: work.settleMs !== undefined } })
  const readCpu = () => ({
    sender: cpuSeconds(sender.pid),
    receiver: cpuSeconds(receiver.pid),
    service: service ? cpuSeconds(service.pid) : Number.NaN,
  })
  const before = readCpu()
  const from = nowUs()
  const result = await ask(sender, { go: true })
  const interval = { from, to: nowUs() }
  const after = readCpu()
  const { accepted, records, account } = await nextMessage(sender)
  const received = await ask(receiver, { report: true })
  const exited = new Promise((resolve) => sender.once('exit', resolve))
  sender.send({ finish: true })
  await exited
  const count = work.events ?? result.launched
  const cpu = Object.fromEntries(
    Object.keys(before).map((name) => [name, ((after[name] - before[name]) / count) * 1e6]),
  )
  return { ...result, count, accepted, records, account, received, cpu, interval, serviceVersion: service?.version }
}

/** Undefined when every event arrived once and is on record; else the reason why the run counts for nothing. */
export function invalidity({ count, finished, accepted, records, received }) {
  if (!finished) return 'not everything was recorded in time'
  if (received.unique !== count || received.accepted !== count)
    return `n = ${received.accepted}, unique = ${received.unique}, N = ${count}`
  if (records !== undefined && records !== accepted) return `${records} records of ${accepted} events`
  return undefined
}
