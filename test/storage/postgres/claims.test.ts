import { expect, test } from 'vitest'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'

const claim = (gateway: TestGateway, agent: TestAgent, ref: string) =>
  gateway.call('POST', '/v1/claims', { ref }, { key: agent.key })

async function startPair() {
  const clock = new FakeClock()
  const one = await startGateway({ overrides: { clock } })
  const two = await startGateway({ dataDir: one.dataDir, overrides: { clock } })
  const agents = await Promise.all(Array.from({ length: 50 }, (_, i) => one.addAgent(`racer-${i}`)))
  const close = async () => {
    await two.stop()
    await one[Symbol.asyncDispose]()
  }
  return { clock, gateways: [one, two] as const, agents, [Symbol.asyncDispose]: close }
}

// S4-2: ownership ambiguity; S4-7
test('of 50 that ask two gateways at once exactly one has it, and so for one that is stale', async () => {
  await using pair = await startPair()
  const race = () => Promise.all(pair.agents.map((agent, i) => claim(pair.gateways[i % 2]!, agent, 'issue-7')))
  const first = await race()
  expect(first.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(first.filter(({ status }) => status === 409)).toHaveLength(49)
  pair.clock.advance(6 * 60 * 60 * 1000)
  const second = await race()
  // The owner of before may renew before anybody takes over: then the claim is no longer stale.
  const owners = second.filter(({ status }) => status < 300)
  expect(owners).toHaveLength(1)
})

// S4-7
test('of hand-overs at two gateways at once one is done, and one mail is sent', async () => {
  await using pair = await startPair()
  const [owner, ...others] = pair.agents.slice(0, 11)
  await claim(pair.gateways[0], owner!, 'issue-7')
  const answers = await Promise.all(
    others.map(({ handle }, i) =>
      pair.gateways[i % 2]!.call('POST', '/v1/claims/handoff', { ref: 'issue-7', to: handle }, { key: owner!.key }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
  const inboxes = await Promise.all(others.map((agent) => pair.gateways[1].call('GET', '/v1/inbox', undefined, agent)))
  expect(inboxes.flatMap(({ body }) => body.messages)).toHaveLength(1)
})
