#!/usr/bin/env node
import { run } from './cli/run/run.ts'

await run(process.argv)
