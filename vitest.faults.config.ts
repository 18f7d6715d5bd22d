import { defineConfig } from 'vitest/config'

// One at a time: each of them loads the machine and measures what it does.
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: 'test/faults/whole-run.ts',
    setupFiles: ['test/support/each-file.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
