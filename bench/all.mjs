// Everything, as Markdown for docs/benchmarks.md on stdout. About three quarters of an hour; --quick: some minutes, to see
// that it runs. Leave the machine alone meanwhile.
//   node bench/all.mjs > docs/benchmarks.md
import { parseArgs } from 'node:util'
import { say } from './lib/command.mjs'
import { describeMachine } from './lib/machine.mjs'
import { measurements } from './measurements.mjs'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, reps: { type: 'string' } } })
const sections = []
const machine = describeMachine()
let failed = false
for (const { title, defaults, quick, measure } of Object.values(measurements)) {
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
