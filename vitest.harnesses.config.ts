import { defineConfig } from 'vitest/config'

// Programs of other vendors, each of them hundreds of megabytes: one at a time, and only where somebody asks for it.
export default defineConfig({
  test: {
    include: ['test/harnesses/**/*.test.ts'],
    globalSetup: ['test/support/scratch.ts'],
    setupFiles: ['test/support/each-file.ts'],
    fileParallelism: false,
    // The first use downloads the programs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
