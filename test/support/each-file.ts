import { afterAll, afterEach } from 'vitest'
import { endFile, endTest } from './ends.ts'

// Vitest runs this file before each test file, also where those share their modules.
afterEach(endTest)
afterAll(endFile)
