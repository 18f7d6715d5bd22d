import { createHash } from 'node:crypto'
import { historyOf } from './history.ts'
import { ruleOf, shrink } from './shrink.ts'
import { World } from './world.ts'

const seed = process.argv[2] ?? '1'
const count = Number(process.argv[3] ?? 1)
const startedAt = process.hrtime.bigint()
let steps = 0
const found = new Map<string, string[]>()
for (let at = 0; at < count; at++) {
  const name = count === 1 ? seed : `${seed}.${at}`
  let history = historyOf(name)
  let played = await World.play(history)
  steps += played.steps
  const rule = ruleOf(played)
  if (count === 1 && rule && process.argv[4] !== 'whole') {
    history = await shrink(history, rule)
    played = await World.play(history)
  }
  if (rule) found.set(rule, [...(found.get(rule) ?? []), name])
  const hash = createHash('sha256').update(played.trace.join('\n')).digest('hex')
  if (count === 1) console.log(JSON.stringify(history.mix), '\n', played.trace.join('\n'), '\n', played.failure?.stack, hash)
}
const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9
console.log(`${count} histories in ${seconds.toFixed(1)} s, ${Math.round(steps / seconds)} steps a second`)
for (const [rule, names] of found) console.log(names.length, rule, names.slice(0, 6).join(' '))
