import { defineConfig } from 'vitest/config'

// Programs of other vendors, each of them hundreds of megabytes: only where somebody asks for it. They wait for each other more than they work.
export default defineConfig({
  test: {
    include: ['test/real-harnesses/**/*.test.ts'],
    globalSetup: ['test/support/scratch.ts', 'test/real-harnesses/download.ts'],
    setupFiles: ['test/support/each-file.ts'],
    maxWorkers: 2,
    // The first use downloads the programs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
