import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * A measurement is a file with `title`, `defaults`, `quick` (what `--quick` puts in their place) and `measure(options)`,
 * which answers Markdown. This runs it when its file is the one that was started. Each default is a flag:
 * `warmUp: 2000` is `--warm-up 2000`; one that is false is a flag without a value.
 */
export async function runIfMain(meta, measurement) {
  if (process.argv[1] !== fileURLToPath(meta.url)) return
  const options = readOptions(measurement)
  const { describeMachine } = await import('./machine.mjs')
  const machine = describeMachine()
  const tables = await measurement.measure(options)
  console.log(`## ${measurement.title}\n\n${machine}\n\n${tables}`)
  process.exit(0)
}

export function readOptions({ defaults, quick = {} }) {
  const flags = Object.keys(defaults).map((name) => [
    kebab(name),
    { type: typeof defaults[name] === 'boolean' ? 'boolean' : 'string' },
  ])
  const { values } = parseArgs({ options: { ...Object.fromEntries(flags), quick: { type: 'boolean' } } })
  const options = { ...defaults, ...(values.quick ? quick : {}) }
  for (const name of Object.keys(defaults)) {
    const given = values[kebab(name)]
    if (given === undefined) continue
    options[name] = typeof defaults[name] === 'number' ? Number(given) : given
    if (Number.isNaN(options[name])) throw new Error(`--${kebab(name)} ${given}: give a number.`)
  }
  return options
}

/** Progress goes to stderr, so that stdout is Markdown alone. */
export function say(text) {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${text}`)
}

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
