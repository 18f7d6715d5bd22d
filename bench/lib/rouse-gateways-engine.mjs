import { confine } from './cpu-share.mjs'
import { holdTransaction } from './postgres.mjs'
import { nextMessage, startNode, stopProcess } from './processes.mjs'
import { acceptBy, openRouse } from './rouse.mjs'

/**
 * Rouse on PostgreSQL as an engine of the delivery work, with `settings.gateways` gateways: the first in this process, as each
 * queue is, the others in processes of their own. Where each has only a `settings.share` of a core, all are in processes of their
 * own. Events go to them round-robin; whoever accepts one or finds it due sends it. `settings.held`: a transaction is held open beside them.
 */
export async function open({ targets, settings, service }) {
  const { share, held, accept } = settings
  const rouse = await openRouse('', { databaseUrl: service, dispatch: !share })
  const agents = []
  for (const [index, { origin, path }] of targets.entries()) {
    const { agent } = await rouse.register(`agent${index}`)
    await rouse.subscribe(agent, `${origin}${path}`)
    agents.push(agent)
  }
  const release = held ? await holdTransaction(service, 'select id from subscription limit 1') : undefined
  const here = { accept: acceptBy(rouse, accept, agents), delivered: () => rouse.counted.delivered }
  const gateways = share ? [] : [here]
  const others = []
  while (gateways.length < settings.gateways) {
    others.push(await startOne(service, settings, agents))
    gateways.push(others.at(-1))
  }

  return {
    accept: (index, text) => gateways[index % gateways.length].accept(index, text),
    get recorded() {
      return gateways.reduce((sum, { delivered }) => sum + delivered(), 0)
    },
    pids: others.map(({ pid }) => pid),
    records: async () => (await rouse.query(`select count(*) as n from delivery where outcome = 'delivered'`))[0].n,
    async close() {
      await Promise.all(others.map(({ close }) => close()))
      await rouse.close()
      await release?.()
    },
  }
}

async function startOne(databaseUrl, settings, agents) {
  const child = startNode('./rouse-gateway.mjs', [], { execArgv: process.execArgv })
  child.send({ databaseUrl, accept: settings.accept })
  await nextMessage(child)
  if (settings.share) confine(child.pid, settings.share)
  child.send({ agents })
  const waiting = new Map()
  let batch = []
  let delivered = 0
  child.on('message', (message) => {
    delivered = message.delivered
    for (const index of message.accepted) {
      waiting.get(index)()
      waiting.delete(index)
    }
  })
  return {
    pid: child.pid,
    delivered: () => delivered,
    accept: (index, text) =>
      new Promise((resolve) => {
        waiting.set(index, resolve)
        batch.push([index, text])
        if (batch.length > 1) return
        setImmediate(() => {
          child.send({ batch })
          batch = []
        })
      }),
    close: () => stopProcess(child),
  }
}
