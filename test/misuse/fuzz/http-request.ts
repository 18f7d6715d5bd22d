import { isJsonObject } from '../../../src/lib/json.ts'
import { filled, filledJson } from '../../requests/words.ts'
import { type Dice, hostileTexts } from './hostile-values.ts'
import { mutated } from './mutate.ts'
import { oddLine } from './odd-line.ts'
import type { Operation } from './operation.ts'
import type { World } from './world.ts'

export interface HttpRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

type Ids = Readonly<Record<string, string>>

const oddHeaders = [
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'Rouse-Session',
  'Rouse-Project',
  'A2A-Version',
  'Accept',
  'X-Forwarded-For',
]
const oddTypes = [
  'text/plain',
  'application/a2a+json',
  'application/json; charset=utf-16le',
  'application/json; charset="\'',
  'multipart/form-data',
]
const oddSegments = [
  '..',
  '%2e%2e',
  '%00',
  '%',
  '%ff',
  'a'.repeat(3_000),
  '%F0%9F',
  '..%2f..',
  'x%0aY',
  '__proto__',
  ';',
  '%ED%A0%80',
]

/** The request of an operation as it is right. */
export function rightRequest(operation: Operation, ids: Ids, world: World): HttpRequest {
  const { path, query = {}, body, headers = {}, as } = operation
  const own = filled(path, (word) => (Object.hasOwn(ids, word) ? encodeURIComponent(ids[word]!) : undefined))
  return {
    path: own + searchOf(filledJson(query, ids)),
    headers: {
      ...filledJson(headers, ids),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...credentials(world, as),
    },
    body: body === undefined ? null : Buffer.from(JSON.stringify(filledJson(body, ids))),
  }
}

/** The same with something about it changed. */
export function hostileRequest(operation: Operation, ids: Ids, world: World, dice: Dice): HttpRequest {
  const { headers = {}, body } = operation
  const type = dice.chance(0.95) ? 'application/json' : dice.pick(oddTypes)
  const more = dice.chance(0.1) ? { [dice.pick(oddHeaders)]: oddLine(dice) } : {}
  return {
    path: hostilePath(operation, ids, world, dice),
    headers: {
      ...filledJson(headers, ids),
      ...(body === undefined ? {} : { 'content-type': type }),
      ...hostileCredentials(operation, world, dice),
      ...more,
    },
    body: body === undefined ? null : hostileBody(filledJson(body, ids), world, dice),
  }
}

function credentials({ operatorKey, mallory }: World, as?: 'operator'): Record<string, string> {
  if (as === undefined) return { authorization: `Bearer ${mallory.key}` }
  return { authorization: `Bearer ${operatorKey}`, 'rouse-project': 'junk' }
}

function hostileCredentials({ path, as }: Operation, world: World, dice: Dice): Record<string, string> {
  if (dice.chance(0.03)) return {}
  // There the address names the project, and the operator sees all of them.
  const isForAgents = /^\/(agents|projects)\//.test(path)
  const isOperator = dice.chance(as === 'operator' ? 0.7 : 0.05) && !isForAgents
  return credentials(world, isOperator ? 'operator' : undefined)
}

function hostilePath({ path, query }: Operation, ids: Ids, { strangers }: World, dice: Dice): string {
  const address = dice.chance(0.1) ? path.replace(/^\/agents\/mallory\b/, '/projects/default/agents/mallory') : path
  const named = filled(address, (word) => {
    if (!Object.hasOwn(ids, word)) return undefined
    if (dice.chance(0.75)) return encodeURIComponent(ids[word]!)
    return dice.chance(0.5) ? encodeURIComponent(dice.pick(strangers)) : dice.pick(oddSegments)
  })
  if (query === undefined || dice.chance(0.2)) return named
  const right = filledJson(query, ids)
  return named + searchOf(dice.chance(0.2) ? right : mutated(right, dice, strangers))
}

/** The search of a URL. */
export function searchOf(query: unknown): string {
  const fields = isJsonObject(query) ? Object.entries(query).slice(0, 50) : []
  const text = fields.map(([name, value]) => `${encoded(name)}=${encoded(flat(value))}`).join('&')
  return text === '' ? '' : `?${text.slice(0, 6_000)}`
}

function hostileBody(right: unknown, { strangers }: World, dice: Dice): Buffer {
  const json = JSON.stringify(dice.chance(0.05) ? right : mutated(right, dice, strangers)) ?? ''
  return dice.chance(0.1) ? dice.pick(hostileTexts)(json || '{}') : Buffer.from(json)
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function flat(value: unknown): string {
  return String(typeof value === 'object' ? JSON.stringify(value) : value)
}
