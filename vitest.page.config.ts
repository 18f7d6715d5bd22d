import { defineConfig } from 'vitest/config'
import { built, fromBuild } from './test/support/from-build.ts'

// A real browser against a whole gateway.
export default defineConfig({
  plugins: [fromBuild()],
  test: {
    server: { deps: { external: [built] } },
    include: ['test/page/**/*.test.ts'],
    setupFiles: ['test/support/each-file.ts'],
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
