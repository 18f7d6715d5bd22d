// Resident memory of a gateway whose receivers are down while 100,000 messages arrive over HTTP.
//   node bench/memory.mjs [--reps 1] [--events 100000] [--quick]
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { runIfMain, say } from './lib/command.mjs'
import { sendMessageCall, startGateway } from './lib/gateway.mjs'
import { residentMemory } from './lib/proc.mjs'
import { freePort, makeDirectory, removeDirectory } from './lib/processes.mjs'
import { adminKey, openRouse } from './lib/rouse.mjs'
import { number, spread, table, verdict } from './lib/table.mjs'
import { subscriptionCount } from './lib/work.mjs'

export const title = 'Memory'
/** V8 gives back what the start needed when the process has been at rest for half a minute. */
export const defaults = { reps: 1, events: 100_000, connections: 64, settleSeconds: 10, restSeconds: 45 }
export const quick = { events: 5_000, restSeconds: 1 }

export async function measure({ reps, events, connections, settleSeconds, restSeconds }) {
  const runs = []
  for (let repetition = 0; repetition < reps; repetition++) {
    runs.push(await run(events, connections, { settleSeconds, restSeconds }))
    say(`${repetition + 1}/${reps} ${number(runs.at(-1).full, 1)} MB, peak ${number(runs.at(-1).peak, 1)} MB`)
  }
  const of = (field) => runs.map((one) => one[field])
  const bar = { atMost: 250 }
  const rows = [
    ['after its start', spread(of('started'), 1), 'no bar', '–'],
    [`at rest, ${restSeconds} s later`, spread(of('idle'), 1), ...verdict(of('idle'), { atMost: 110 })],
    [`with ${number(events)} undelivered events`, spread(of('full'), 1), ...verdict(of('full'), bar)],
    ['the peak before that', spread(of('peak'), 1), ...verdict(of('peak'), bar)],
  ]
  const kept = runs.every((one) => one.kept === events)
    ? `all ${number(events)} are in the store`
    : `INVALID: ${of('kept')} of ${events} are in the store`
  const note = `${number(events)} SendMessage calls over ${connections} connections to ${subscriptionCount} agents, each with a subscription to a port where nobody listens; ${reps} repetitions; ${kept}, ${of('delivered').join(', ')} delivered.`
  return `${note}\n\n${table(['resident memory', 'MB', 'bar', 'verdict'], rows)}`
}

async function run(events, connections, { settleSeconds, restSeconds }) {
  const dataDir = makeDirectory('memory')
  const deadPort = await freePort()
  await fill(dataDir, deadPort)
  const gateway = await startGateway({ dataDir })
  const started = residentMemory(gateway.pid).now
  await sleep(restSeconds * 1000)
  const idle = residentMemory(gateway.pid).now
  await sendAll(gateway.url, events, connections)
  await sleep(settleSeconds * 1000)
  const { now: full, peak } = residentMemory(gateway.pid)
  await gateway.stop()
  const counts = await countEvents(dataDir)
  removeDirectory(dataDir)
  return { started, idle, full, peak, ...counts }
}

async function fill(dataDir, port) {
  const rouse = await openRouse(dataDir, { dispatch: false })
  for (let index = 0; index < subscriptionCount; index++) {
    const { agent } = await rouse.register(`agent${index}`)
    await rouse.subscribe(agent, `http://127.0.0.1:${port}/`)
  }
  await rouse.close()
}

async function sendAll(url, events, connections) {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${adminKey}` }
  let next = 0
  const client = async () => {
    while (next < events) {
      const index = next++
      const body = JSON.stringify(sendMessageCall('the build of last night is done, please look at it'))
      const path = `/agents/agent${index % subscriptionCount}`
      const answer = await pool.request({ method: 'POST', path, headers, body })
      if (!(await answer.body.json()).result) throw new Error('A SendMessage was refused.')
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  await pool.close()
}

async function countEvents(dataDir) {
  const rouse = await openRouse(dataDir, { dispatch: false })
  const count = async (text) => (await rouse.query(text))[0].n
  const kept = await count(`select count(*) as n from event where type = 'message.sent'`)
  const delivered = await count(`select count(*) as n from delivery where outcome = 'delivered'`)
  await rouse.close()
  return { kept, delivered }
}

await runIfMain(import.meta, { title, defaults, quick, measure })
