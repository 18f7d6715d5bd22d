// Checks that every measurement still runs: each in its smallest size, Rouse without its peers, so that nobody breaks what they wire
// unseen. It takes one to two minutes and needs none of the packages of this folder. The figures mean nothing.
//   npm run build && node bench/smoke.mjs [delivery sendMessage ...]
import { say } from './lib/command.mjs'
import { measurements } from './measurements.mjs'

const smallest = {
  delivery: { reps: 1, events: 200, warmUp: 50, inFlight: 20, only: 'rouse,rouse-send-message' },
  sendMessage: { reps: 1, seconds: 0.2, warmUp: 20, warmUpSeconds: 0.1 },
  wakeLatency: { reps: 1, tasks: 5, warmUp: 2 },
  latency: { reps: 1, seconds: 1, warmUp: 50, warmUpSeconds: 0.2, rates: '50', only: 'rouse,rouse-send-message' },
  trouble: { reps: 1, seconds: 1, warmUpSeconds: 0.2, rate: 20, settleSeconds: 20 },
  memory: { reps: 1, events: 200, connections: 8, settleSeconds: 0 },
  footprint: { rounds: 1, messages: 8 },
  collections: { reps: 1, seconds: 2, warmUp: 800, only: 'rouse' },
  mcp: { reps: 1, sessions: 10, wakes: 5 },
  followers: { reps: 1, followers: 20, sends: 10, ends: 5 },
  growth: { reps: 1, samples: 5, warmUp: 1, tasks: 500, subscriptions: 20 },
}

const chosen = process.argv.slice(2)
const failed = []
for (const [name, { title, defaults, measure }] of Object.entries(measurements)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  say(title)
  try {
    const markdown = await measure({ ...defaults, ...smallest[name] })
    const wrong = markdown.split('\n').filter((line) => /INVALID|not measured|NaN|LOST/.test(line))
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
  } catch (error) {
    failed.push(title)
    console.error(error)
  }
}
if (failed.length > 0) console.error(`These do not run: ${failed.join(', ')}.`)
process.exit(failed.length > 0 ? 1 : 0)
