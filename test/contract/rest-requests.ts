import type { Overrides } from '../../src/gateway/app.ts'
import { type AnySample, planned, type RestRoute } from '../requests/sample.ts'
import { samples } from '../requests/samples.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { type Arrange, exchange, type Request, record, type World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'
import type { SharedCase } from './together.ts'

type Key = Pick<TestAgent, 'key'>

/** A case of a shared gateway that is one request over REST. */
export function rest<Scene extends { readonly gateway: TestGateway }>(
  folder: string,
  shows: string,
  ask: (scene: Scene) => Promise<Request> | Request,
): SharedCase<Scene> {
  return [folder, shows, async (scene) => record(scene.gateway, await ask(scene))]
}

/** A case with a gateway of its own. `more`: for one that is not as usual. */
export function apart(folder: string, shows: string, arrange: Arrange, more: Overrides = {}): FixtureCase {
  return { folder, shows, render: () => exchange(arrange, more) }
}

/** A refusal, with a gateway of its own. */
export const problem = (name: string, shows: string, arrange: Arrange, more?: Overrides): FixtureCase =>
  apart(`problems/${name}`, shows, arrange, more)

export async function people({ gateway }: World): Promise<{ lola: TestAgent; donna: TestAgent }> {
  return { lola: await gateway.addAgent('@lola'), donna: await gateway.addAgent('@donna') }
}

/** The sample of a route, with the ids that its words stand for; without an agent it is the operator's. */
export const plain = (route: RestRoute, agent?: Key, ids: Readonly<Record<string, string>> = {}): Request => ({
  ...planned(route, samples[route] as AnySample, ids),
  ...(agent ? { key: agent.key } : {}),
})

/** A request; without an agent it is the operator's. */
export const ask = (method: string, path: string, body?: unknown, agent?: Key): Request => ({
  method,
  path,
  ...(body === undefined ? {} : { body }),
  ...(agent ? { key: agent.key } : {}),
})

export const get = (path: string, agent?: Key): Request => ask('GET', path, undefined, agent)

/** A request without a key. */
export const openly = (path: string): Request => ({ ...get(path), key: null })

/** A call that has to succeed, before what a case shows. */
export async function done(gateway: TestGateway, asks: Request): Promise<Record<string, string>> {
  const { method, path, body, key, headers } = asks
  const options = { ...(key === undefined ? {} : { key }), ...(headers === undefined ? {} : { headers }) }
  const answer = await gateway.call(method, path, body, options)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
