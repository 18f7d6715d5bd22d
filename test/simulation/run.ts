import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { historyOf } from './history.ts'
import { ruleOf, shrink } from './shrink.ts'
import { storyOf } from './story.ts'
import { Violation, World } from './world.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: 'rouse' },
    minutes: { type: 'string' },
    histories: { type: 'string', default: '100' },
    only: { type: 'string' },
    first: { type: 'boolean', default: false },
    keep: { type: 'string' },
    whole: { type: 'boolean', default: false },
  },
})

/** Of the processor: how much others leave of it changes nothing. */
const seconds = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1e6
const until = values.minutes === undefined ? Number.POSITIVE_INFINITY : 60 * Number(values.minutes)
const most = values.minutes === undefined ? Number(values.histories) : Number.POSITIVE_INFINITY

/** Prints one history, by default the shortest one that fails alike. */
async function tell(seed: string): Promise<void> {
  const whole = historyOf(seed)
  const rule = ruleOf(await World.play(whole))
  const history = rule === undefined || values.whole ? whole : await shrink(whole, rule)
  console.log(storyOf(history, await World.play(history)))
  if (values.keep !== undefined) writeFileSync(values.keep, `${JSON.stringify(history)}\n`)
}

let count = 0
let steps = 0
const found = new Map<string, string[]>()
if (values.only === undefined) {
  for (; count < most && seconds() < until; count++) {
    const seed = `${values.seed}.${count}`
    const played = await World.play(historyOf(seed))
    steps += played.steps
    const rule = ruleOf(played)
    if (values.first && (played.failure instanceof Violation || rule?.startsWith('Time stands still'))) {
      console.log(`Found after ${seconds().toFixed(1)} s, history ${count}: ${rule}`)
      process.exit(1)
    }
    if (rule !== undefined) found.set(rule, [...(found.get(rule) ?? []), seed])
  }
  const pace = `${(count / seconds()).toFixed(1)} histories and ${Math.round(steps / seconds())} steps a second`
  console.log(`${count} histories in ${seconds().toFixed(0)} s: ${pace}.`)
  for (const [rule, seeds] of found) console.log(`${seeds.length} × ${rule}: --only ${seeds.slice(0, 5).join(', ')}`)
  for (const [seed] of found.values()) await tell(seed!)
} else await tell(values.only)
process.exitCode = found.size === 0 ? 0 : 1
