import { defineConfig } from 'vitest/config'

const engine = (name: string, more: object) => ({ extends: true as const, test: { name, ...more } })

// One at a time: each of them loads the machine and measures what it does.
export default defineConfig({
  test: {
    include: ['test/misuse/**/*.test.ts'],
    setupFiles: ['test/support/each-file.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    pool: 'forks',
    disableConsoleIntercept: true,
    projects: [
      engine('sqlite', {}),
      engine('postgres', {
        env: { ROUSE_TEST_ENGINE: 'postgres' },
        globalSetup: ['test/support/postgres-server.ts'],
      }),
    ],
  },
})
