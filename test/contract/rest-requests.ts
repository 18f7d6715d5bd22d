import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { type Request, record } from './exchange.ts'
import type { SharedCase } from './together.ts'

/** A case of a shared gateway that is one request over REST. */
export function rest<Scene extends { readonly gateway: TestGateway }>(
  folder: string,
  shows: string,
  ask: (scene: Scene) => Promise<Request> | Request,
): SharedCase<Scene> {
  return [folder, shows, async (scene) => record(scene.gateway, await ask(scene))]
}

/** A request; without an agent it is the operator's. */
export const ask = (method: string, path: string, body?: unknown, agent?: TestAgent): Request => ({
  method,
  path,
  ...(body === undefined ? {} : { body }),
  ...(agent ? { key: agent.key } : {}),
})

export const get = (path: string, agent?: TestAgent): Request => ask('GET', path, undefined, agent)

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
