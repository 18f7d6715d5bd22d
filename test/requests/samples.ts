import { agentSamples } from './agents.ts'
import { recoverySamples } from './recovery.ts'
import type { RestRoute, Samples } from './sample.ts'
import { wakeSamples } from './wakes.ts'
import { workSamples } from './work.ts'

/** One sample for each route below `/v1`. A route that is added gets its own in the file of its room, of the four above. */
export const samples: Samples = { ...agentSamples, ...workSamples, ...wakeSamples, ...recoverySamples }

export const routes = Object.keys(samples) as RestRoute[]
