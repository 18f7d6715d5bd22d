import { isJsonObject } from '../../../src/lib/json.ts'
import { type Dice, hostileValues } from './hostile-values.ts'

/** A copy of a JSON value with one to three things about it changed. `strangers` are ids that belong to somebody else. */
export function mutated(value: unknown, dice: Dice, strangers: readonly string[]): unknown {
  const copy = structuredClone(value)
  const root = { value: copy }
  const times = 1 + Math.floor(dice.roll() * 3)
  for (let time = 0; time < times; time++) changeOne(root, dice, strangers)
  return root.value
}

interface Place {
  readonly holder: Record<string, unknown> | unknown[]
  readonly key: string | number
}

function changeOne(root: Record<string, unknown>, dice: Dice, strangers: readonly string[]): void {
  const { holder, key } = dice.pick(placesIn(root))
  const at = holder as Record<string | number, unknown>
  const how = dice.roll()
  if (how < 0.45) at[key] = dice.pick(hostileValues)()
  else if (how < 0.6) at[key] = dice.pick(strangers)
  else if (how < 0.7) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else if (holder !== root) delete at[key]
  } else if (how < 0.8 && isJsonObject(at[key])) {
    const name = dice.pick(['__proto__', 'constructor', 'extra', 'id', 'kind', 'toJSON', 'then', ''])
    Object.defineProperty(at[key], name, {
      value: dice.pick(hostileValues)(),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else if (how < 0.9 && Array.isArray(at[key])) {
    const list = at[key]
    if (list.length > 0 && list.length < 100) for (let time = 0; time < 150; time++) list.push(structuredClone(list[0]))
  } else if (typeof at[key] === 'string') at[key] = twisted(at[key], dice)
  else at[key] = [at[key]]
}

function twisted(text: string, dice: Dice): string {
  const odd = dice.pick(hostileValues)()
  const more = typeof odd === 'string' ? odd : '\u0000'
  const at = Math.floor(dice.roll() * (text.length + 1))
  return (text.slice(0, at) + more + text.slice(at)).slice(0, 20_000)
}

const placesMax = 400

/** Every place of a value that can be changed, the whole of it included. */
function placesIn(root: Record<string, unknown>): Place[] {
  const places: Place[] = []
  const waiting: (Record<string, unknown> | unknown[])[] = [root]
  for (let holder = waiting.pop(); holder !== undefined && places.length < placesMax; holder = waiting.pop()) {
    const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder)
    for (const key of keys) {
      places.push({ holder, key })
      const inner = (holder as Record<string | number, unknown>)[key]
      if (Array.isArray(inner) || isJsonObject(inner)) waiting.push(inner)
    }
  }
  return places
}
