import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

/** Agents at work, as a person finds them in the morning. */
interface Office {
  readonly donna: TestAgent
  readonly cody: TestAgent
  readonly lola: TestAgent
  readonly receiver: Receiver
  /** A task that waits for an answer, and one that somebody works on. */
  readonly asking: string
  readonly working: string
  /** A subscription whose receiver has refused a wake. */
  readonly degraded: string
}

export async function openOffice(gateway: TestGateway): Promise<Office> {
  const receiver = await startReceiver()
  const [donna, cody, lola] = [
    await gateway.addAgent('donna', { displayName: 'Donna' }),
    await gateway.addAgent('cody'),
    await gateway.addAgent('lola'),
  ]
  const session = (agent: TestAgent, surface: string) => gateway.call('POST', '/v1/sessions', { surface }, agent)
  await session(donna, 'claude_code')
  await session(cody, 'codex')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.subscribe(cody, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('PUT', '/v1/presence', { state: 'active', source: 'a2a-webhook' }, donna)
  await gateway.call('PUT', '/v1/presence', { state: 'waitingOnApproval', source: 'codex-app-server' }, cody)

  const working = (await gateway.send('donna', 'Review the parser.\nIt is in src/parse.', { key: cody.key })).id
  await gateway.move(donna, working, 'working', { message: 'I read it now.' })
  const asking = (await gateway.send('donna', 'Deploy the release.')).id
  await gateway.move(donna, asking, 'working')
  await gateway.move(donna, asking, 'input-required', { message: 'Which environment: staging or production?' })
  const done = (await gateway.send('cody', 'Update the changelog.', { key: donna.key })).id
  await gateway.move(cody, done, 'completed', {
    message: 'Done.',
    artifacts: [{ name: 'diff', parts: [{ text: '+1' }] }],
  })

  const refusing = await startReceiver(410)
  const { id: degraded } = await gateway.subscribe(lola, refusing.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('POST', '/v1/messages', { to: '@lola', subject: 'Are you there?', body: 'Tests are red.' }, donna)
  await refusing.waitFor(1)
  const isDegraded = async () => (await gateway.call('GET', `/v1/wake-subscriptions/${degraded}`)).body.status
  await until(isDegraded, (status) => status === 'degraded')
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'usage-limit', detail: 'weekly window' }, lola)
  refusing.respond(200)
  return { donna, cody, lola, receiver, asking, working, degraded }
}
