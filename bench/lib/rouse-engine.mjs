import { makeDirectory, removeDirectory } from './processes.mjs'
import { acceptBy, openRouse } from './rouse.mjs'

/** Rouse as an engine of the delivery work. `settings.accept`: `append` (one event) or `sendMessage` (the A2A path). */
export async function open({ targets, settings }) {
  const dataDir = makeDirectory('rouse')
  const rouse = await openRouse(dataDir)
  const agents = []
  for (const [index, { origin, path }] of targets.entries()) {
    const { agent } = await rouse.register(`agent${index}`)
    await rouse.subscribe(agent, `${origin}${path}`)
    agents.push(agent)
  }

  return {
    accept: acceptBy(rouse, settings.accept, agents),
    get recorded() {
      return rouse.counted.delivered
    },
    records,
    account: () => account(rouse),
    async close() {
      await rouse.close()
      removeDirectory(dataDir)
    },
  }

  async function records() {
    return (await rouse.query(`select count(*) as n from delivery where outcome = 'delivered'`))[0].n
  }
}

/** The outcome of the events of each subscription. Events after its cursor are stored and still to be sent. */
function account(rouse) {
  return rouse.query(`select s.target, s.status,
      (select count(*) from delivery d where d.subscription_id = s.id and d.outcome = 'delivered') as delivered,
      (select count(*) from delivery d where d.subscription_id = s.id and d.outcome = 'failed') as failed,
      (select count(*) from event_audience a where a.audience = s.audience and a.project_id = s.project_id
        and a.trigger = s.trigger and a.log_id > s.cursor_log_id) as waiting
    from subscription s`)
}
