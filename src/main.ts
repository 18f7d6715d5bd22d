#!/usr/bin/env node
import { boundYoungGeneration } from './cli/run/young-generation.ts'

boundYoungGeneration()
const { run } = await import('./cli/run/run.ts')
await run(process.argv)
