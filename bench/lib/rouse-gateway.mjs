// One of several gateways on a PostgreSQL, in its own process: accepts the events that it is sent, delivers what it leases.
import { acceptBy, openRouse } from './rouse.mjs'

process.on('disconnect', () => process.exit(1))
const { databaseUrl, accept } = await new Promise((resolve) => process.once('message', resolve))
const rouse = await openRouse('', { databaseUrl })
let acceptHere
let answers = []

process.on('message', async (message) => {
  if (message.agents) acceptHere = acceptBy(rouse, accept, message.agents)
  if (message.batch) for (const one of message.batch) acceptOne(one)
  if (message.close) {
    await rouse.close()
    process.exit(0)
  }
})
process.send({ ready: true })

async function acceptOne([index, text]) {
  await acceptHere(index, text)
  answers.push(index)
  if (answers.length === 1) setImmediate(tell)
}

// Answers of one iteration of the event loop are sent together, like the events.
function tell() {
  process.send({ accepted: answers, delivered: rouse.counted.delivered })
  answers = []
}

setInterval(() => process.send({ accepted: [], delivered: rouse.counted.delivered }), 5)
