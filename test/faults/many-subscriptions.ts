import type { ProcessAgent, ProcessClient } from '../support/process-client.ts'
import { runSql } from '../support/store.ts'
import { type Watch, watch } from './watch.ts'

const kinds = [
  { name: 'tasks', metadata: {} },
  { name: 'tasks, window 1 s', metadata: { coalesceWindow: 1, coalesceMode: 'window' } },
  { name: 'tasks, 8 in flight', metadata: { maxInFlight: 8 } },
  { name: 'mail', trigger: 'SENT_TO_ME', metadata: {} },
  { name: 'mail, high', trigger: 'SENT_TO_ME', priority: 'high', metadata: {} },
] as const

/** This many agents, each with one subscription of each kind, distributed over the receivers. */
export async function watchAgents(
  client: ProcessClient,
  count: number,
  receiverUrls: readonly string[],
): Promise<{ agents: ProcessAgent[]; watches: Watch[] }> {
  const agents: ProcessAgent[] = []
  const watches: Watch[] = []
  for (let i = 0; i < count; i++) {
    const agent = await client.addAgent(`@agent${i}`)
    agents.push(agent)
    for (const { name, ...input } of kinds)
      watches.push(await watch(client, agent, receiverUrls[i % receiverUrls.length]!, name, input))
  }
  return { agents, watches }
}

/** Fills the store up to `total` subscriptions with ones that nothing is said to, five an agent. */
export async function addIdle(databaseUrl: string, total: number, like: Watch): Promise<number> {
  await runSql(
    databaseUrl,
    `insert into subscription
     select copy.* from subscription one
     cross join generate_series((select count(*) from subscription) + 1, $2::int) n
     cross join lateral jsonb_populate_record(one, jsonb_build_object('id', 'WAKE_SUB:' || gen_random_uuid(),
       'agent_id', 'idle-' || n / 5, 'audience', 'idle-' || n / 5)) copy
     where one.id = $1`,
    [like.id, total],
  )
  const [row] = await runSql(databaseUrl, 'select count(*) as count from subscription')
  return row!.count as number
}
