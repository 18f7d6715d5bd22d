import { afterAll, afterEach, inject } from 'vitest'
import { endFile, endTest } from './ends.ts'
import { reuseSessions } from './postgres-sessions.ts'

const databaseUrl = inject('databaseUrl')
if (databaseUrl !== undefined) reuseSessions(new URL(databaseUrl))

// Vitest runs this file before each test file, also where those share their modules.
afterEach(endTest)
afterAll(endFile)
