// Everything, as Markdown for docs/benchmarks.md on stdout. About three quarters of an hour; --quick: some minutes, to see
// that it runs. Leave the machine alone meanwhile.
//   node bench/all.mjs > docs/benchmarks.md
import { parseArgs } from 'node:util'
import * as delivery from './delivery.mjs'
import * as growth from './growth.mjs'
import * as latency from './latency.mjs'
import { say } from './lib/command.mjs'
import { describeMachine } from './lib/machine.mjs'
import * as mcp from './mcp.mjs'
import * as memory from './memory.mjs'
import * as sendMessage from './send-message.mjs'
import * as trouble from './trouble.mjs'
import * as wakeLatency from './wake-latency.mjs'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, reps: { type: 'string' } } })
const sections = []
const machine = describeMachine()
let failed = false
for (const measurement of [delivery, sendMessage, wakeLatency, latency, trouble, memory, mcp, growth]) {
  const { title, defaults, quick, measure } = measurement
  say(title)
  const options = { ...defaults, ...(values.quick ? quick : {}), ...(values.reps ? { reps: Number(values.reps) } : {}) }
  try {
    sections.push(`## ${title}\n\n${await measure(options)}`)
  } catch (error) {
    failed = true
    console.error(error)
    sections.push(`## ${title}\n\nNot measured: ${error.message}`)
  }
}
console.log(`# Benchmarks\n\n${machine}\n\n${sections.join('\n\n')}`)
process.exit(failed ? 1 : 0)
